import Switchyard
import SwitchyardBytes

/// A client's part of a database: a cache, a queue of writes, and open streams.
///
/// While connected, the device shows the server's documents with its own queued writes applied; otherwise, its cache takes the
/// server's place.
///
/// `@unchecked Sendable`: clients only hold a reference to a device. All access to its contents happens inside the lock of the
/// ``MockDatabase`` that it belongs to.
final class MockDevice: @unchecked Sendable {
    typealias Action = DeliveryQueue.Action
    /// A closure that ends an opened stream, and the stream's first actions.
    typealias Opened = (close: @Sendable (MockDevice, DocumentTable) -> Void, actions: [Action])

    var isNetworkEnabled = true
    /// Whether the test's network is on.
    var isReachable = true
    var isShutDown = false
    /// The name of the file that stores the queue, if any.
    var keptAs: String?
    /// The rules for this device's user; `nil` if everything is allowed.
    var rules: MockRules?
    /// Whether the queue is being sent.
    var isSending = false
    /// The documents read, listened to or written here; a document without data is known to be missing.
    var cache = DocumentTable()
    /// The cache version on disk.
    var savedCache = 0
    let queue = MockWriteQueue()
    private(set) var documentListeners: [StoragePath: [Int: DocumentListener]] = [:]
    private(set) var queryListeners: [CollectionPath: [Int: QueryListener]] = [:]
    private(set) var groupListeners: [UTF8Key: [Int: QueryListener]] = [:]
    private let rounds = Broadcast<EventStream<Void, StorageError>.Continuation>()
    private var lastListener = 0

    var isConnected: Bool { isNetworkEnabled && isReachable }

    var listenerCount: Int { streamCount + queue.listenerCount }

    /// The number of streams that show documents of the device.
    var streamCount: Int {
        documentListeners.values.reduce(0) { $0 + $1.count } + queryListeners.values.reduce(0) { $0 + $1.count }
            + groupListeners.values.reduce(0) { $0 + $1.count } + rounds.count
    }

    // MARK: Reading

    /// The document as seen by this device; `nil` if the device is offline and the document unknown.
    func document(_ path: StoragePath, _ server: DocumentTable, fromCache: Bool = false) -> DocumentSnapshot? {
        let isFromCache = fromCache || !isConnected
        let base = isFromCache ? cache[path] : server[path] ?? .missing(path)
        if queue.isEmpty && !isFromCache { return base }
        return queue.overlay(base, at: path, isFromCache: isFromCache)
    }

    /// All documents in the collections of `query`, as seen by this device.
    func documents(for query: Query, _ server: DocumentTable, fromCache: Bool = false) -> [DocumentSnapshot] {
        let isFromCache = fromCache || !isConnected
        let table = isFromCache ? cache : server
        let collections = table.collections(of: query.source)
        // A single collection's array is shared, not copied.
        var result = collections.count == 1 ? table.documents(in: collections[0]) : []
        if collections.count > 1 { for collection in collections { result += table.documents(in: collection) } }
        if queue.isEmpty && !isFromCache { return result }
        var waiting = queue.writtenPaths
        result = result.compactMap { document in
            waiting.remove(document.path)
            return queue.overlay(document, at: document.path, isFromCache: isFromCache)
        }
        let evaluator = QueryEvaluator(Query(source: query.source))
        for path in waiting where evaluator.isInSource(path) {
            if let document = queue.overlay(nil, at: path, isFromCache: isFromCache) { result.append(document) }
        }
        return result
    }

    // MARK: Listening

    func add(_ listener: DocumentListener, _ server: DocumentTable) -> Opened {
        let (id, path) = (number(), listener.path)
        listener.id = id
        documentListeners[path, default: [:]][id] = listener
        return ({ device, _ in device.removeDocumentListener(id, at: path) }, serve(listener, server))
    }

    func add(_ listener: QueryListener, _ server: DocumentTable) -> Opened {
        let (id, query) = (number(), listener.query)
        listener.id = id
        switch query.source {
        case .collection(let path): queryListeners[path, default: [:]][id] = listener
        case .group(let group, _): groupListeners[UTF8Key(group), default: [:]][id] = listener
        }
        return (
            { device, server in
                guard let listener = device.removeQueryListener(id, of: query), device.isConnected else { return }
                device.keep(listener, server)
            }, reset(listener, server).map { [$0] } ?? []
        )
    }

    func add(_ continuation: EventStream<Void, StorageError>.Continuation) -> Opened {
        let stop = rounds.add(continuation) {
            $0.announce()
            $0.yield(())
        }
        return ({ _, _ in stop() }, [rounds.deliver])
    }

    private func number() -> Int {
        lastListener += 1
        return lastListener
    }

    private func removeDocumentListener(_ id: Int, at path: StoragePath) {
        documentListeners[path]?[id] = nil
        if documentListeners[path]?.isEmpty == true { documentListeners[path] = nil }
    }

    /// - Returns: `nil` if it has been removed already.
    @discardableResult
    private func removeQueryListener(_ id: Int, of query: Query) -> QueryListener? {
        let listener: QueryListener?
        switch query.source {
        case .collection(let path):
            listener = queryListeners[path]?.removeValue(forKey: id)
            if queryListeners[path]?.isEmpty == true { queryListeners[path] = nil }
        case .group(let group, _):
            let key = UTF8Key(group)
            listener = groupListeners[key]?.removeValue(forKey: id)
            if groupListeners[key]?.isEmpty == true { groupListeners[key] = nil }
        }
        return listener
    }

    /// Ends all streams of the device.
    func end(throwing error: StorageError) -> [Action] {
        let actions = endListeners(throwing: error)
        rounds.close { $0.finish(throwing: error) }
        return actions + [rounds.deliver] + queue.end(throwing: error)
    }

    /// Ends all streams of documents and queries.
    func endListeners(throwing error: StorageError) -> [Action] {
        var actions: [Action] = []
        for listener in documentListeners.values.flatMap(\.values) {
            let continuation = listener.continuation
            actions.append { continuation.finish(throwing: error) }
        }
        for listener in allQueryListeners {
            let continuation = listener.continuation
            actions.append { continuation.finish(throwing: error) }
        }
        documentListeners = [:]
        queryListeners = [:]
        groupListeners = [:]
        return actions
    }

    // MARK: Changes

    /// Handles documents changed on the server, or by writes of this device. The cost depends on the affected listeners.
    func changed(_ paths: [StoragePath], _ server: DocumentTable) -> [Action] {
        guard !documentListeners.isEmpty || !queryListeners.isEmpty || !groupListeners.isEmpty else { return [] }
        var actions: [Action] = []
        for path in paths {
            for listener in (documentListeners[path] ?? [:]).values { actions += serve(listener, server) }
        }
        for (collection, paths) in Dictionary(grouping: paths, by: \.collection) {
            let direct = queryListeners[collection] ?? [:]
            let group = groupListeners.isEmpty ? [:] : groupListeners[UTF8Key(collection.id)] ?? [:]
            guard !direct.isEmpty || !group.isEmpty else { continue }
            let standard = paths.map { document($0, server) ?? .missing($0) }
            let listeners = [direct, group].flatMap(\.values)
            actions.reserveCapacity(actions.count + listeners.count)
            var isConcerned = [Bool](repeating: false, count: paths.count)
            for listener in listeners where listener.options.source == .standard {
                guard listener.take(standard, noting: &isConcerned) else { continue }
                if let action = serve(listener, server) { actions.append(action) }
            }
            if isConnected {
                for (document, isConcerned) in zip(standard, isConcerned) where isConcerned {
                    cache.store(server[document.path] ?? .missing(document.path))
                }
            }
            // After the other listeners, which have just added to the cache.
            let cacheListeners = listeners.filter { $0.options.source == .cache }
            guard !cacheListeners.isEmpty else { continue }
            let cached = paths.map { document($0, server, fromCache: true) ?? .missing($0) }
            for listener in cacheListeners where listener.take(cached, noting: &isConcerned) {
                if let action = serve(listener, server) { actions.append(action) }
            }
        }
        return actions + roundActions(actions)
    }

    /// Updates all listeners after the connection was lost or restored.
    func connectionChanged(from wasConnected: Bool, _ server: DocumentTable) -> [Action] {
        // Cache what the listeners have shown, including documents that have disappeared.
        if wasConnected != isConnected {
            for listener in allQueryListeners { keep(listener, server) }
        }
        var actions: [Action] = []
        for listener in documentListeners.values.flatMap(\.values) { actions += serve(listener, server) }
        actions += allQueryListeners.compactMap { reset($0, server) }
        return actions + roundActions(actions)
    }

    /// Switches to the user who is signed in now.
    func use(_ owner: String, _ server: DocumentTable) -> [Action] {
        let (paths, actions) = queue.use(owner)
        // Another user may see other documents.
        guard rules == nil else { return connectionChanged(from: isConnected, server) + actions }
        return changed(Array(paths), server) + actions
    }

    /// Deletes the queue of `owner` and the cache. Open streams then show only the server's documents, or nothing while
    /// offline.
    func forget(_ server: DocumentTable, of owner: String? = nil) -> [Action] {
        cache = DocumentTable()
        savedCache = -1
        return queue.removeAll(of: owner) + connectionChanged(from: isConnected, server)
    }

    private var allQueryListeners: [QueryListener] {
        queryListeners.values.flatMap(\.values) + groupListeners.values.flatMap(\.values)
    }

    private func roundActions(_ actions: [Action]) -> [Action] {
        guard !actions.isEmpty else { return [] }
        rounds.queue { $0.yield(()) }
        return [rounds.deliver]
    }

    private func serve(_ listener: DocumentListener, _ server: DocumentTable) -> [Action] {
        let isCache = listener.options.source == .cache
        if isConnected, !isCache, let refusal = refusal(toGet: listener.path, server) {
            return end(listener, throwing: refusal)
        }
        if isConnected && !isCache { cache.store(server[listener.path] ?? .missing(listener.path)) }
        let known = document(listener.path, server, fromCache: isCache)
        let isFromCache = isCache || !isConnected
        let document = known ?? .missing(listener.path, metadata: SnapshotMetadata(isFromCache: isFromCache))
        guard let snapshot = listener.take(document) else { return [] }
        let continuation = listener.continuation
        return [{ continuation.yield(snapshot) }]
    }

    private func serve(_ listener: QueryListener, _ server: DocumentTable) -> Action? {
        listener.needsRefill ? reset(listener, server) : notify(listener, server)
    }

    private func reset(_ listener: QueryListener, _ server: DocumentTable) -> Action? {
        listener.reset(
            to: documents(for: listener.query, server, fromCache: listener.options.source == .cache))
        return notify(listener, server)
    }

    private func notify(_ listener: QueryListener, _ server: DocumentTable) -> Action? {
        let snapshot = listener.snapshot(isFromCache: isFromCache(listener), mayBePending: !queue.isEmpty)
        if rules != nil, !isFromCache(listener),
            let refusal = refusal(toList: listener.documents, of: listener.query, server)
        {
            return end(listener, throwing: refusal)
        }
        guard let snapshot else { return nil }
        let continuation = listener.continuation
        return { continuation.yield(snapshot) }
    }

    /// Ends a listener whose user may no longer see the document.
    private func end(_ listener: DocumentListener, throwing error: StorageError) -> [Action] {
        removeDocumentListener(listener.id, at: listener.path)
        let continuation = listener.continuation
        return [{ continuation.finish(throwing: error) }]
    }

    private func end(_ listener: QueryListener, throwing error: StorageError) -> Action {
        removeQueryListener(listener.id, of: listener.query)
        let continuation = listener.continuation
        return { continuation.finish(throwing: error) }
    }

    private func isFromCache(_ listener: QueryListener) -> Bool { listener.options.source == .cache || !isConnected }

    /// Caches what a listener has shown.
    private func keep(_ listener: QueryListener, _ server: DocumentTable) {
        guard listener.options.source == .standard else { return }
        for document in listener.documents { cache.store(server[document.path] ?? .missing(document.path)) }
    }
}
