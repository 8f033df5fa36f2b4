import Switchyard
import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Rows that somebody else writes after the answer to a write was lost, and before it is sent again.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct LostRowEditTests {
    struct Meeting: Sendable, CustomTestStringConvertible {
        let write: LostWrite
        let isCarriedOut: Bool
        /// What the other one does.
        let edit: String
        let rows: String
        var failure: StorageError.Code?

        var testDescription: String { "\(write)\(isCarriedOut ? "" : ", not carried out"), \(edit.prefix(6))" }
    }

    private static let change = "update public.plain_text set number = 50 where parent = 'one' and id = 'a'"
    private static let addition =
        "insert into public.plain_text (parent, id, text, number) values ('one', 'a', 'a', 50)"
    private static let removal = "delete from public.plain_text where parent = 'one' and id = 'a'"

    static let meetings = [
        // The last write counts.
        Meeting(write: .set, isCarriedOut: true, edit: change, rows: "a=7"),
        Meeting(write: .merge, isCarriedOut: true, edit: change, rows: "a=7"),
        Meeting(write: .update, isCarriedOut: true, edit: change, rows: "a=7"),
        Meeting(write: .setSeveral, isCarriedOut: true, edit: removal, rows: "a=7 b=8 c=9"),
        // An update makes no row, and a row that was made again is another one.
        Meeting(write: .update, isCarriedOut: true, edit: removal, rows: "", failure: .notFound),
        Meeting(write: .delete, isCarriedOut: true, edit: addition, rows: "a=50"),
        Meeting(write: .delete, isCarriedOut: false, edit: "\(removal); \(addition)", rows: "a=50"),
        Meeting(write: .deleteSeveral, isCarriedOut: true, edit: addition, rows: "a=50 b=2"),
        // What cannot be known is kept among the rejected writes, and not carried out twice.
        Meeting(write: .increment, isCarriedOut: true, edit: change, rows: "a=50", failure: .aborted),
        Meeting(write: .increment, isCarriedOut: false, edit: change, rows: "a=50", failure: .aborted),
        Meeting(write: .create, isCarriedOut: true, edit: change, rows: "a=50", failure: .alreadyExists),
        Meeting(write: .create, isCarriedOut: false, edit: addition, rows: "a=50", failure: .alreadyExists),
    ]

    @Test(.timeLimit(.minutes(2)), arguments: meetings)
    func `A write that is sent again meets somebody else's edit`(_ meeting: Meeting) async throws {
        let site = try await LostRowSite()
        try await site.insert(meeting.write.before, under: "one")
        let items: CollectionPath = "conformance/one/items"
        _ = try await site.client.documents(Query(in: items), from: .server)

        let faults = site.supabase.faults
        let lost = faults.add(meeting.isCarriedOut ? .cutAnswer(after: 100) : LostRowSite.gatewayFailure) { request in
            LostRowSite.isForRows(request) && request.method != .get
        }
        let gate = Gate()
        let next = faults.add(.holdRequest(gate)) { LostRowSite.isForRows($0) && faults.strikes(of: lost) > 0 }
        let receipt = try await site.client.commit(meeting.write.batch(in: items))
        try await eventually("the next request") { faults.strikes(of: next) == 1 }
        try await site.run(meeting.edit)
        gate.open()
        var failure: StorageError?
        do throws(StorageError) { _ = try await receipt.acknowledged() } catch { failure = error }
        #expect(failure?.code == meeting.failure)
        #expect(try await site.rows(of: "one") == meeting.rows)
        await site.stop()
    }
}
