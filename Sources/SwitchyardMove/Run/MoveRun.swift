public import Switchyard
import SwitchyardBytes

/// A move in progress. Dropping the value does not stop it; cancelling does.
public final class MoveRun: Sendable {
    private let task: Task<Result<MoveReport, MoveError>, Never>
    private let meter: MoveMeter
    /// Limits the speed; you can change the limit at any time.
    public let throttle: MoveThrottle

    init(_ copying: Copying) {
        meter = copying.meter
        throttle = copying.throttle
        task = Task {
            defer {
                copying.journal.close()
                copying.meter.finish()
            }
            do throws(MoveError) { return .success(try await copying.run()) } catch { return .failure(error) }
        }
    }

    /// The progress, now and after every step. The stream ends with the move.
    public var progress: SnapshotStream<MoveProgress, Never> { meter.stream() }

    /// Waits for the end. Cancelling the waiting task stops the move.
    ///
    /// - Throws: `.cancelled` if it was stopped, or why it failed. Either way, a run with the same journal continues.
    public func result() async throws(MoveError) -> MoveReport {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Stops after the calls that are in progress.
    public func cancel() { task.cancel() }
}

/// What a move has done, including earlier runs with its journal.
public struct MoveReport: Sendable, Hashable, Codable {
    public var documents: Int
    public var accounts: Int
    public var files: Int
    public var fileBytes: Int64
    /// How many accounts have another ID on the target; `ids.jsonl` in the journal's folder lists them.
    public var renamedAccounts: Int
    /// What the target rejected, also in `rejected.jsonl`.
    public var rejections: [Rejection]
    /// The time of this run.
    public var seconds: Double
}

extension MoveReport: CustomStringConvertible {
    public var description: String {
        var lines = [
            "Moved \(Shown.count(documents, "document")), \(Shown.count(accounts, "account")) and "
                + "\(Shown.count(files, "file")) with \(Shown.bytes(fileBytes)). This run took \(Shown.time(.seconds(seconds)))."
        ]
        if renamedAccounts > 0 {
            lines.append("Accounts with another ID, listed in ids.jsonl in the journal: \(renamedAccounts).")
        }
        if !rejections.isEmpty {
            lines.append("Rejected by the target, listed in rejected.jsonl in the journal: \(rejections.count).")
            lines += rejections.prefix(20).map { "  \($0.subject): \($0.reason)" }
        }
        return lines.joined(separator: "\n")
    }
}
