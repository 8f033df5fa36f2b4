import Switchyard
import SwitchyardBytes
import SwitchyardText

/// `switchyard watch`
struct WatchCommand: BackendCommand {
    let name = "watch"
    let backend: BackendOptions
    var endsByInterrupt: Bool { true }
    private let watched: Watched
    private let isPlain: Bool
    private let count: Int?

    private enum Watched {
        case document(StoragePath)
        case query(Query)
    }

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("watch"))
        backend = BackendOptions(given)
        count = try given.number("--count")
        isPlain = given.has("--plain")
        if given.arguments.count == 1, !given.has("--group"), let path = try? given.arguments[0].documentPath() {
            watched = .document(path)
        } else {
            watched = .query(try QueryWords(given).query)
        }
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        var printer = ChangePrinter(isPlain: isPlain, rest: count)
        let options = ListenOptions(includesMetadataChanges: true)
        switch watched {
        case .query(let query):
            for try await snapshot in backend.storage.snapshots(of: query, options: options) {
                for change in snapshot.changes where change.kind != .metadata {
                    guard printer.print(change.kind.rawValue, change.document) else { return .success }
                }
                guard printer.print(isCurrent: !snapshot.metadata.isFromCache) else { return .success }
            }
        case .document(let path):
            var last: DocumentSnapshot?
            for try await document in backend.storage.snapshots(of: path, options: options) {
                if let kind = Self.change(from: last, to: document) {
                    guard printer.print(kind, document.exists ? document : last ?? document) else { return .success }
                }
                last = document
                guard printer.print(isCurrent: !document.metadata.isFromCache) else { return .success }
            }
        }
        return .success
    }

    private static func change(from old: DocumentSnapshot?, to new: DocumentSnapshot) -> String? {
        switch (old?.data, new.data) {
        case (nil, nil): nil
        case (nil, _?): "added"
        case (_?, nil): "removed"
        case (let old?, let new?): old == new ? nil : "modified"
        }
    }
}

/// Prints changes as lines.
private struct ChangePrinter {
    let isPlain: Bool
    /// How many lines are left; `nil` for all.
    var rest: Int?
    private var wasCurrent = false

    init(isPlain: Bool, rest: Int?) {
        self.isPlain = isPlain
        self.rest = rest
    }

    /// - Returns: Whether to go on.
    mutating func print(_ kind: String, _ document: DocumentSnapshot) -> Bool {
        write(["change": .string(kind), "document": document.json(isPlain: isPlain)])
    }

    /// Says when the server has confirmed what was printed, and when the connection is lost.
    mutating func print(isCurrent: Bool) -> Bool {
        defer { wasCurrent = isCurrent }
        if isCurrent == wasCurrent { return true }
        return write(["change": isCurrent ? "current" : "disconnected"])
    }

    private mutating func write(_ line: JSON) -> Bool {
        guard Terminal.print(line.bytes()) else { return false }
        guard let left = rest else { return true }
        rest = left - 1
        return left > 1
    }
}
