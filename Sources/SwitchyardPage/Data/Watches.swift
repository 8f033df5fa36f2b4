import Switchyard
import SwitchyardBytes
import Synchronization

/// The queries that pages follow. Each is followed once, however many tabs show it, and ends when no page has been there for a
/// while.
final class Watches: Sendable {
    private struct Key: Hashable {
        let backend: String
        let id: String
    }

    /// The most documents of a query that are followed; the rest is read in pages.
    static let window = 200
    private static let most = 64

    private let hub: EventHub
    private let running = Mutex<[Key: Task<Void, Never>]>([:])

    init(_ hub: EventHub) { self.hub = hub }

    var count: Int { running.withLock { $0.count } }

    func start(_ call: PageCall, on backend: PageBackend) async throws -> JSON {
        let id = try call.required("watch")
        var query = try DataRoutes.query(call)
        switch query.limit {
        case nil: query = query.limited(to: Self.window)
        case .first(let count)?: query = query.limited(to: min(count, Self.window))
        case .last(let count)?: query = query.limited(toLast: min(count, Self.window))
        }
        let persona = try call.persona()
        // A mistake is said at once.
        _ = try await backend.storage(persona)
        let followed = query
        let hub = hub
        let task = Task { await Self.follow(followed, as: persona, id, backend, hub) }
        let (former, isTooMany) = running.withLock { running in
            let key = Key(backend: backend.id, id: id)
            guard running[key] != nil || running.count < Self.most else { return (nil as Task<Void, Never>?, true) }
            return (running.updateValue(task, forKey: key), false)
        }
        former?.cancel()
        guard !isTooMany else {
            task.cancel()
            throw PageFailure(429, "resourceExhausted", "\(Self.most) queries are followed already; end one first.")
        }
        return .object(["watch": .string(id)])
    }

    func end(_ id: String, on backend: PageBackend) {
        running.withLock { $0.removeValue(forKey: Key(backend: backend.id, id: id)) }?.cancel()
    }

    func endAll() {
        let all = running.withLock { running in
            defer { running = [:] }
            return Array(running.values)
        }
        for task in all { task.cancel() }
    }

    private static func follow(
        _ query: Query, as persona: Persona, _ id: String, _ backend: PageBackend, _ hub: EventHub
    ) async {
        do {
            let storage = try await backend.storage(persona)
            for try await snapshot in storage.snapshots(
                of: query, options: ListenOptions(includesMetadataChanges: true))
            {
                let changed = snapshot.changes.filter { $0.kind != .metadata }
                hub.send(
                    "data",
                    [
                        "backend": .string(backend.id), "watch": .string(id),
                        "documents": .array(snapshot.documents.map(DataRoutes.json)),
                        "changed": .array(changed.map { .string($0.document.path.rawValue) }),
                        "isFromCache": .bool(snapshot.metadata.isFromCache),
                    ])
            }
        } catch {
            guard !Task.isCancelled else { return }
            let failure = PageFailure(error)
            // Other clients were made meanwhile, for there are other tables.
            if failure.code == ErrorCode.shutDown.rawValue, (try? await backend.storage(persona)) != nil {
                return await follow(query, as: persona, id, backend, hub)
            }
            hub.send(
                "data",
                [
                    "backend": .string(backend.id), "watch": .string(id),
                    "error": ["code": .string(failure.code), "message": .string(failure.message)],
                ])
        }
    }
}
