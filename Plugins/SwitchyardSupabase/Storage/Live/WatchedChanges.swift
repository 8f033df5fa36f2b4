import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// Converts the database's answers about changes into the engine's events. Pure: takes requests and answers, returns events.
struct WatchedChanges {
    fileprivate struct Target {
        let watched: TargetRequest
        /// Distinguishes this target from an earlier one with the same ID.
        let generation: Int
        var token: String?
        /// The last check of this target has seen all transactions below this one; 0 if nothing is known.
        var seenBelow: UInt64 = 0
        /// Whether the server counts the results, once after a resume, to find missed changes.
        var wantsCount: Bool
        var isNew = true
        /// For targets that are always reported in full: the reported documents and their versions.
        var reported: [StoragePath: String] = [:]
        /// The results that are no documents, which the database counts all the same.
        var nameless: Set<String> = []
    }

    /// The user whose rights the answers reflect. Others see other documents, so their state cannot be resumed.
    private let reader: AuthUser.ID
    private var targets: [Int: Target] = [:]
    private var generations = 0
    private var lastReadTime = Timestamp.never

    /// - Parameter reader: Empty for requests with only a key.
    init(reader: AuthUser.ID = "") { self.reader = reader }

    /// A query to the database about some targets.
    struct PollRequest: Sendable {
        fileprivate let generations: [Int: Int]
        fileprivate let targets: [JSON]
        var json: JSON { .array(targets) }

        /// Two queries for one half each; `nil` for a single target.
        var halves: (PollRequest, PollRequest)? {
            guard targets.count > 1 else { return nil }
            return (
                PollRequest(generations: generations, targets: Array(targets[..<(targets.count / 2)])),
                PollRequest(generations: generations, targets: Array(targets[(targets.count / 2)...]))
            )
        }
    }

    /// Removes the targets of a failed inquiry.
    mutating func fail(_ inquiry: PollRequest, _ cause: StorageError) -> [WatchEvent] {
        inquiry.targets.compactMap { $0["id"]?.int }.compactMap { id in
            guard targets[id]?.generation == inquiry.generations[id] else { return nil }
            targets[id] = nil
            return .removed([id], cause: cause)
        }
    }

    mutating func take(_ request: WatchRequest) -> [WatchEvent] {
        switch request {
        case .add(let watched):
            generations += 1
            let token = serverToken(of: watched.resumeToken)
            targets[watched.id] = Target(
                watched: watched, generation: generations, token: token, wantsCount: token != nil)
            // At once: each request is answered, also one that is withdrawn before the first check.
            return [.added([watched.id])]
        case .remove(let id):
            targets[id] = nil
            return [.removed([id])]
        }
    }

    /// The token with which the engine resumes a listener.
    private func resumeToken(_ token: String) -> [UInt8] { Array("\(reader)|\(token)".utf8) }

    /// - Returns: `nil` if the token is not from this reader.
    private func serverToken(of resumeToken: [UInt8]) -> String? {
        guard let mark = resumeToken.lastIndex(of: UInt8(ascii: "|")), resumeToken[..<mark].elementsEqual(reader.utf8)
        else { return nil }
        return String(decoding: resumeToken[(mark + 1)...], as: UTF8.self)
    }

    /// The oldest transaction that may be new after a check. A token begins with the database's epoch, since another database,
    /// such as a restored one, counts separately.
    private static func oldest(in token: String) -> UInt64 {
        let parts = token.split(separator: ":")
        return parts.count == 2 ? UInt64(parts[1]) ?? 0 : 0
    }

    /// Whether the results of a transaction may be new to one of the targets, which are not always checked together.
    func mayBeNew(_ transaction: UInt64) -> Bool { targets.values.contains { transaction >= $0.seenBelow } }

    /// The topics that announce changes of the watched documents.
    var topics: Set<HintTopic> {
        Set(targets.values.map(\.watched.target.documentTopic))
    }

    /// - Parameter recounts: Whether to count all results, to find documents that the user may no longer see, which neither
    ///   hints nor versions reveal.
    /// - Returns: `nil` if there are no targets.
    mutating func inquiry(recounts: Bool) -> PollRequest? {
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
        return PollRequest(generations: targets.mapValues(\.generation), targets: list)
    }

    /// The events for an answer, about the targets that have not been replaced since.
    mutating func take(_ answer: JSON, to inquiry: PollRequest) throws(StorageError) -> [WatchEvent] {
        guard let token = answer["token"]?.string, let list = answer["targets"]?.array,
            let readTime = Timestamp(postgres: answer["readTime"])
        else { throw .unreadableAnswer }
        lastReadTime = max(lastReadTime, readTime)
        let oldest = Self.oldest(in: token)
        var events: [WatchEvent] = []
        var asked: Set<Int> = []
        for element in list {
            guard let id = element["id"]?.int64.map({ Int($0) }) else { throw .unreadableAnswer }
            guard var target = targets[id], inquiry.generations[id] == target.generation else { continue }
            if let code = element["error"]?.string {
                targets[id] = nil
                events.append(.removed([id], cause: StorageError(watching: code, element["message"]?.string ?? "")))
                continue
            }
            events += try self.events(of: element, for: &target, token, isSettled: answer["settled"] == true)
            target.seenBelow = oldest
            targets[id] = target
            asked.insert(id)
        }
        guard !events.isEmpty else { return [] }
        // A snapshot's token applies to all targets, so it is empty if some were not checked.
        let isAboutAll = targets.keys.allSatisfy { asked.contains($0) }
        if !isAboutAll, !asked.isEmpty { events.append(.token(asked.sorted(), token: resumeToken(token))) }
        events.append(.snapshot(version: lastReadTime, token: isAboutAll ? resumeToken(token) : []))
        return events
    }

    private func events(
        of answer: JSON, for target: inout Target, _ token: String, isSettled: Bool
    ) throws(StorageError) -> [WatchEvent] {
        let id = target.watched.id
        var events: [WatchEvent] = []
        var documents: [DocumentSnapshot] = []
        var versions: [StoragePath: String] = [:]
        if answer["reset"] == true { target.nameless = [] }
        for element in answer["documents"]?.array ?? [] {
            guard let document = try DocumentSnapshot(postgres: element) else {
                if let path = element["path"]?.string { target.nameless.insert(path) }
                continue
            }
            documents.append(document)
            versions[document.path] = element["version"]?.string ?? element["updated"]?.string
        }

        let isWhole = answer["reset"] == true
        if isWhole {
            // All results: because the target is new, has a limit, or its token is too old.
            if target.isNew || !target.isAlwaysWhole {
                events.append(.reset([id]))
                target.reported = [:]
            }
            for document in documents where target.reported[document.path] != versions[document.path] {
                events.append(.changed(document, targets: [id]))
            }
            for path in target.reported.keys.sorted() where versions[path] == nil {
                events.append(.left(path, removedFrom: [id]))
            }
            if case .document(let path) = target.watched.target, versions[path] == nil,
                target.isNew || target.reported[path] != nil
            {
                // Without a deletion time, the document is missing as of now, unless a transaction in progress may be writing
                // it.
                let time = Timestamp(postgres: answer["gone"]?[path.rawValue])
                let version = time ?? (isSettled ? lastReadTime : .never)
                events.append(.deleted(path, version: version, removedFrom: [id]))
            }
            if target.isAlwaysWhole { target.reported = versions }
        } else {
            events += documents.map { .changed($0, targets: [id]) }
            for path in answer["left"]?.array ?? [] {
                guard let text = path.string else { throw .unreadableAnswer }
                guard let path = try? StoragePath(validating: text) else {
                    target.nameless.remove(text)
                    continue
                }
                events.append(.left(path, removedFrom: [id]))
            }
            for gone in answer["deleted"]?.array ?? [] {
                guard let text = gone[0]?.string, let time = Timestamp(postgres: gone[1]) else {
                    throw .unreadableAnswer
                }
                guard let path = try? StoragePath(validating: text) else {
                    target.nameless.remove(text)
                    continue
                }
                events.append(.deleted(path, version: time, removedFrom: [id]))
            }
            if let count = answer["count"]?.int64 {
                events.append(.filter(target: id, count: max(0, Int(clamping: count) - target.nameless.count)))
                target.wantsCount = false
            }
        }
        if isWhole { target.wantsCount = false }
        if target.isNew { events.append(.current([id], token: resumeToken(token))) }
        target.isNew = false
        target.token = token
        return events
    }
}

extension WatchedChanges.Target {
    /// Whether the database always returns all results, so that events are found by comparing.
    fileprivate var isAlwaysWhole: Bool {
        switch watched.target {
        case .document: true
        case .query(let query): query.limit != nil
        }
    }
}
