import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardSupabase

/// Writes to rows whose answer is cut off, at every seventh byte (in a run that is not full, at fewer) and before the last one, and
/// such as were never carried out, with nothing installed. The queue heals all of them.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LostRowAnswerTests {
    private struct Outcome {
        /// `nil` if the write was acknowledged.
        let failure: StorageError?
        let rows: String
        /// How many requests for the table it took.
        let requests: Int
    }

    /// Commits a write, whose first request meets a fault.
    private static func outcome(
        of write: LostWrite, on site: LostRowSite, under parent: String, knowing isKnown: Bool = true, _ fault: Fault?
    ) async throws -> Outcome {
        let items = try CollectionPath(validating: "conformance/\(parent)/items")
        try await site.insert(write.before, under: parent)
        if isKnown { _ = try await site.client.documents(Query(in: items), from: .server) }
        let requests = Mutex(0)
        let isAffected = Mutex(false)
        let rule = site.supabase.faults.add(fault ?? .delayAnswer(.zero), times: nil) { request in
            guard LostRowSite.isForRows(request) else { return false }
            requests.withLock { $0 += 1 }
            guard request.method != .get, fault != nil else { return false }
            return isAffected.withLock { isAffected in
                defer { isAffected = true }
                return !isAffected
            }
        }
        defer { site.supabase.faults.remove(rule) }
        var failure: StorageError?
        do throws(StorageError) {
            _ = try await site.client.commit(write.batch(in: items)).acknowledged()
        } catch {
            failure = error
        }
        return Outcome(
            failure: failure, rows: try await site.rows(of: parent), requests: requests.withLock { $0 })
    }

    @Test(.timeLimit(.minutes(5)), arguments: LostWrite.allCases)
    func `A write whose answer is cut off, anywhere and at the last byte, takes effect once`(_ write: LostWrite)
        async throws
    {
        let site = try await LostRowSite()
        let whole = try await Self.outcome(of: write, on: site, under: "whole", nil)
        #expect(whole.failure == nil && whole.rows == write.after)

        /// - Returns: Whether the answer was longer.
        func isCut(after count: Int) async throws -> Bool {
            let found = try await Self.outcome(
                of: write, on: site, under: "cut\(count)", .cutAnswer(after: count, reset: count.isMultiple(of: 2)))
            #expect(found.rows == write.after, "\(count) bytes")
            let isCut = found.requests > whole.requests
            if isCut, write == .increment {
                // The row has changed, and no one can know by whom.
                #expect(found.failure?.code == .aborted, "\(count) bytes")
            } else {
                #expect(found.failure == nil, "\(count) bytes")
            }
            return isCut
        }
        let step = RunSize.full(7, part: 61)
        var cut = 0
        while try await isCut(after: cut * step) { cut += 1 }
        // The last byte.
        var (shorter, length) = ((cut - 1) * step, cut * step)
        while length - shorter > 1 {
            let middle = (shorter + length) / 2
            if try await isCut(after: middle) { shorter = middle } else { length = middle }
        }
        print("lost rows: \(write): answers of \(length) bytes, cut at \(cut) places and the last")
        // Of several deletions, only the keys come back.
        #expect(cut >= (write == .deleteSeveral ? 175 : 280) / step)
        await site.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: LostWrite.allCases, [true, false])
    func `A write that was never carried out, for all that its sender knows, is`(
        _ write: LostWrite, _ isKnown: Bool
    ) async throws {
        let site = try await LostRowSite()
        let found = try await Self.outcome(
            of: write, on: site, under: "never", knowing: isKnown, LostRowSite.gatewayFailure)
        if write == .increment, !isKnown {
            // No one can know whether the row is what it was.
            #expect(found.failure?.code == .aborted)
            #expect(found.rows == write.before)
        } else {
            #expect(found.failure == nil)
            #expect(found.rows == write.after)
        }
        await site.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: [0, 20, 200, nil])
    func `A transaction whose answer is lost is not run again, and one that was not carried out takes effect`(
        _ bytes: Int?
    ) async throws {
        let site = try await LostRowSite()
        let path: StoragePath = "conformance/one/items/a"
        try await site.insert("a=1", under: "one")
        site.supabase.faults.add(bytes.map { .cutAnswer(after: $0) } ?? LostRowSite.gatewayFailure) {
            $0.method == .patch
        }
        var failure: StorageError?
        do throws(StorageError) {
            try await site.client.transaction { transaction in
                let number = try await transaction.document(path)["number"]?.integerValue ?? 0
                try await transaction.update(path, ["number": .value(.integer(number + 1))])
            }
        } catch {
            failure = error
        }
        #expect(failure?.code == (bytes == nil ? nil : .unavailable))
        #expect(try await site.rows(of: "one") == "a=2")
        await site.stop()
    }
}
