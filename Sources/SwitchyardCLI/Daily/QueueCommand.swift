import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// `switchyard queue`
struct QueueCommand: BackendCommand {
    enum Work: String, CaseIterable { case list, retry, drop }

    var name: String { "queue \(work.rawValue)" }
    let backend: BackendOptions
    /// Listing sends nothing, and what is dropped must not leave first.
    var isOffline: Bool { work != .retry }
    private let work: Work
    private let ids: [String]
    private let given: Options
    private let wait: Duration

    init(_ words: [String]) throws(UsageError) {
        let names = Work.allCases.map(\.rawValue)
        guard let word = words.first else {
            throw UsageError(
                "missing subcommand: " + names.map { "“queue \($0)”" }.joined(separator: ", "))
        }
        guard let work = Work(rawValue: word) else {
            throw UsageError.unknown("“queue” subcommand", word, among: names)
        }
        self.work = work
        given = try Options(Array(words.dropFirst()), of: Commands.named("queue \(work.rawValue)"))
        backend = BackendOptions(given)
        ids = given.arguments
        wait = try WriteOptions(given).wait
        if work == .drop, ids.isEmpty == !(given.has("--all") || given.has("--rejected")) {
            throw UsageError("“queue drop” needs either the writes' ID, “--rejected” or “--all”")
        }
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        guard backend.stateFolder != nil else {
            throw CommandFailure(
                "there is no state folder, so no writes wait. Pass “--state FOLDER”, or add \"stateFolder\" to the configuration.",
                .usage)
        }
        let storage = backend.storage
        let waiting = try await Self.first(storage.pendingWrites()) ?? []
        let rejected = try await Self.first(storage.refusedWrites()) ?? []
        if let wrong = ids.first(where: { id in
            !waiting.contains { $0.id == id } && !rejected.contains { $0.id == id }
        }) {
            let near = nearestName(to: wrong, in: waiting.map(\.id) + rejected.map(\.id))
            throw CommandFailure(
                "no write “\(wrong)” waits."
                    + (near.map { " Did you mean “\($0)”?" } ?? " “switchyard queue list” lists them."))
        }
        switch work {
        case .list:
            show(waiting, rejected)
            return .success
        case .drop: return try await drop(waiting, rejected, from: storage)
        case .retry: return try await retry(rejected, on: storage)
        }
    }

    private static func first<Element>(
        _ stream: SnapshotStream<Element, StorageError>
    ) async throws(StorageError) -> Element? {
        for try await element in stream { return element }
        return nil
    }

    // MARK: Listing

    private func show(_ waiting: [PendingWrite], _ rejected: [RefusedWrite]) {
        for write in waiting {
            guard given.has("--json") else {
                Terminal.print("\(write.id)  waits  \(write)")
                continue
            }
            var line = Self.line(write.id, "waiting", write.batch, at: write.queuedAt, write.lastError)
            line["attempts"] = .integer(Int64(write.attempts))
            Terminal.print(JSON.object(line).text())
        }
        for write in rejected {
            guard given.has("--json") else {
                Terminal.print("\(write.id)  rejected  \(write)")
                continue
            }
            let line = Self.line(write.id, "rejected", write.batch, at: write.refusedAt, write.error)
            Terminal.print(JSON.object(line).text())
        }
        if waiting.isEmpty, rejected.isEmpty, !given.has("--json") { Terminal.print("No writes wait.") }
    }

    private static func line(
        _ id: String, _ state: String, _ batch: WriteBatch, at time: Timestamp, _ error: StorageError?
    ) -> JSONObject {
        var line: JSONObject = [
            "id": .string(id), "state": .string(state), "at": .string("\(time)"),
            "writes": .array(batch.writes.map { .string("\($0)") }),
        ]
        if let error { line["error"] = ["code": .string(error.code.rawValue), "message": .string(error.message)] }
        return line
    }

    // MARK: Changing

    private func drop(
        _ waiting: [PendingWrite], _ rejected: [RefusedWrite], from storage: any StorageClient
    ) async throws -> ExitStatus {
        var count = 0
        for write in rejected where given.has("--all") || given.has("--rejected") || ids.contains(write.id) {
            try await storage.resolveRefusedWrite(write.id, requeuing: nil)
            count += 1
        }
        var status = ExitStatus.success
        for write in waiting where given.has("--all") || ids.contains(write.id) {
            // It may have been sent by another process, whose answer no one got.
            let synced = storage.unwrapped(as: SyncedStorageClient.self)
            let isDropped =
                if let synced { try await synced.dropPendingWrite(write.id) } else {
                    try await storage.cancelPendingWrite(write.id)
                }
            if isDropped {
                count += 1
                guard write.attempts > 0 else { continue }
                report("“\(write.id)” was sent before without an answer; the server may have carried it out")
            } else {
                report("“\(write.id)” is no longer there")
                status = .failure
            }
        }
        Terminal.print("Dropped \(count) write\(count == 1 ? "" : "s").")
        return status
    }

    private func retry(_ rejected: [RefusedWrite], on storage: any StorageClient) async throws -> ExitStatus {
        for write in rejected where ids.contains(write.id) {
            try await storage.resolveRefusedWrite(write.id, requeuing: write.batch)
        }
        try await storage.retryPendingWrites()
        try await storage.waitForPendingWrites(within: wait)
        let still = try await Self.first(storage.refusedWrites()) ?? []
        guard still.isEmpty else {
            for write in still { report("\(write.id) is rejected: \(write)") }
            return .failure
        }
        Terminal.print("No writes wait.")
        return .success
    }
}
