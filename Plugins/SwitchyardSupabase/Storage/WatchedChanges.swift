import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Turns the database's answers about what changed into what the engine understands. Pure: requests and answers in, events out.
struct WatchedChanges {
    fileprivate struct Target {
        let watched: WatchedTarget
        /// Tells this one from an earlier one of the same ID.
        let generation: Int
        var token: String?
        /// Whether the server shall count the results: once after a resume, to find out what was missed.
        var wantsCount: Bool
        var isNew = true
        /// Of targets that are always told whole: what was told.
        var told: [StoragePath: Timestamp] = [:]
    }

    private var targets: [Int: Target] = [:]
    private var generations = 0
    private var lastReadTime = Timestamp.never

    /// A question to the database: about which targets, and in which words.
    struct Inquiry: Sendable {
        fileprivate let generations: [Int: Int]
        let json: JSON
    }

    mutating func take(_ request: WatchRequest) -> [WatchEvent] {
        switch request {
        case .add(let watched):
            generations += 1
            let token = watched.resumeToken.isEmpty ? nil : String(decoding: watched.resumeToken, as: UTF8.self)
            targets[watched.id] = Target(
                watched: watched, generation: generations, token: token, wantsCount: token != nil)
            return []
        case .remove(let id):
            targets[id] = nil
            return [.removed([id])]
        }
    }

    /// - Parameter recounts: Whether all results are to be counted, to find what no hint and no version could tell: that a
    ///   document has gone out of the user's sight.
    /// - Returns: `nil` when there is nothing to ask.
    mutating func inquiry(recounts: Bool) -> Inquiry? {
        guard !targets.isEmpty else { return nil }
        if recounts { for id in targets.keys { targets[id]?.wantsCount = true } }
        let list = targets.values.map { target in
            var object: JSONObject = ["id": .integer(Int64(target.watched.id))]
            switch target.watched.target {
            case .document(let path): object["documents"] = [.string(path.rawValue)]
            case .query(let query): object["query"] = query.postgres
            }
            if let token = target.token { object["since"] = .string(token) }
            if target.wantsCount { object["count"] = true }
            return JSON.object(object)
        }
        return Inquiry(generations: targets.mapValues(\.generation), json: .array(list))
    }

    /// What an answer means for those targets that are still the ones it is about.
    mutating func take(_ answer: JSON, to inquiry: Inquiry) throws(StorageError) -> [WatchEvent] {
        guard let token = answer["token"]?.string, let list = answer["targets"]?.array,
            let readTime = Timestamp(postgres: answer["readTime"])
        else { throw .unreadableAnswer }
        lastReadTime = max(lastReadTime, readTime)
        var events: [WatchEvent] = []
        for element in list {
            guard let id = element["id"]?.int64.map({ Int($0) }) else { throw .unreadableAnswer }
            guard var target = targets[id], inquiry.generations[id] == target.generation else { continue }
            if let code = element["error"]?.string {
                targets[id] = nil
                let cause = StorageError(
                    .invalidArgument, "The database cannot run the query (\(code)).", isRetryable: false)
                events.append(.removed([id], cause: cause))
                continue
            }
            events += try self.events(of: element, for: &target, token)
            targets[id] = target
        }
        if !events.isEmpty { events.append(.snapshot(version: lastReadTime, token: Array(token.utf8))) }
        return events
    }

    private func events(
        of answer: JSON, for target: inout Target, _ token: String
    ) throws(StorageError) -> [WatchEvent] {
        let id = target.watched.id
        var events: [WatchEvent] = target.isNew ? [.added([id])] : []
        var documents: [DocumentSnapshot] = []
        for document in answer["documents"]?.array ?? [] { documents.append(try DocumentSnapshot(postgres: document)) }

        let isWhole = answer["reset"] == true
        if isWhole {
            // All of it, because it is new, because it has a limit, or because its token is too old.
            if target.isNew || !target.isAlwaysWhole {
                events.append(.reset([id]))
                target.told = [:]
            }
            let here = Dictionary(documents.map { ($0.path, $0) }) { first, _ in first }
            for document in documents where target.told[document.path] != document.updateTime {
                events.append(.changed(document, targets: [id]))
            }
            for path in target.told.keys.sorted() where here[path] == nil {
                events.append(.left(path, removedFrom: [id]))
            }
            if case .document(let path) = target.watched.target, here[path] == nil,
                target.isNew || target.told[path] != nil
            {
                events.append(.deleted(path, version: lastReadTime, removedFrom: [id]))
            }
            if target.isAlwaysWhole { target.told = here.compactMapValues(\.updateTime) }
        } else {
            events += documents.map { .changed($0, targets: [id]) }
            for path in answer["left"]?.array ?? [] {
                guard let path = path.string else { throw .unreadableAnswer }
                events.append(.left(try StoragePath(validating: path), removedFrom: [id]))
            }
            for gone in answer["deleted"]?.array ?? [] {
                guard let path = gone[0]?.string, let time = Timestamp(postgres: gone[1]) else {
                    throw .unreadableAnswer
                }
                events.append(.deleted(try StoragePath(validating: path), version: time, removedFrom: [id]))
            }
            if let count = answer["count"]?.int64 {
                events.append(.filter(target: id, count: Int(count)))
                target.wantsCount = false
            }
        }
        if isWhole { target.wantsCount = false }
        if target.isNew { events.append(.current([id], token: Array(token.utf8))) }
        target.isNew = false
        target.token = token
        return events
    }
}

extension WatchedChanges.Target {
    /// Whether the database tells all of it each time: then what to tell the engine is found by comparing.
    fileprivate var isAlwaysWhole: Bool {
        switch watched.target {
        case .document: true
        case .query(let query): query.limit != nil
        }
    }
}
