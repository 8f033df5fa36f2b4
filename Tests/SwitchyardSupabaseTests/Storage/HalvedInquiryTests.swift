import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// Targets that are read one half after the other: what happens between the two reads is new to the first.
@Suite struct HalvedInquiryTests {
    private static func answer(_ ids: [Int], upTo transaction: Int, at second: Int) -> JSON {
        [
            "token": .string("e:\(transaction)"), "settled": true,
            "readTime": .string("2026-11-21T01:54:\(second < 10 ? "0" : "")\(second)Z"),
            "targets": .array(
                ids.map {
                    [
                        "id": .integer(Int64($0)), "documents": [], "left": [],
                        "deleted": [["a/x", "2026-11-21T01:54:00Z"]],
                    ]
                }),
        ]
    }

    private static func changes() throws -> WatchedChanges {
        var changes = WatchedChanges()
        for id in 0..<2 { _ = changes.take(.add(TargetRequest(id: id, target: .query(Query(in: "a"))))) }
        return changes
    }

    private static func inquiry(_ changes: inout WatchedChanges) throws -> WatchedChanges.PollRequest {
        let inquiry = changes.inquiry(recounts: false)
        return try #require(inquiry)
    }

    private static func ids(_ inquiry: WatchedChanges.PollRequest) -> [Int] {
        (inquiry.json.array ?? []).compactMap { $0["id"]?.int }
    }

    @Test func `A hint between two reads requires another one`() throws {
        var changes = try Self.changes()
        let inquiry = try Self.inquiry(&changes)
        let (first, second) = try #require(inquiry.halves)
        _ = try changes.take(Self.answer(Self.ids(first), upTo: 5, at: 1), to: first)
        _ = try changes.take(Self.answer(Self.ids(second), upTo: 9, at: 2), to: second)
        #expect(changes.mayBeNew(9) && changes.mayBeNew(7) && changes.mayBeNew(5))
        #expect(!changes.mayBeNew(4))
        let whole = try Self.inquiry(&changes)
        _ = try changes.take(Self.answer([0, 1], upTo: 10, at: 3), to: whole)
        #expect(!changes.mayBeNew(9) && changes.mayBeNew(10))
    }

    @Test func `Each half continues from its own read after a restart`() throws {
        var changes = try Self.changes()
        let inquiry = try Self.inquiry(&changes)
        let (first, second) = try #require(inquiry.halves)
        for (half, transaction) in [(first, 5), (second, 9)] {
            let ids = Self.ids(half)
            let events = try changes.take(Self.answer(ids, upTo: transaction, at: transaction), to: half)
            for event in events {
                switch event {
                case .snapshot(_, let token): #expect(token.isEmpty, "it would be the other half's token, too")
                case .token(let read, let token):
                    #expect(read == ids && String(decoding: token, as: UTF8.self) == "|e:\(transaction)")
                default: break
                }
            }
        }
        let whole = try Self.inquiry(&changes)
        let events = try changes.take(Self.answer([0, 1], upTo: 10, at: 10), to: whole)
        #expect(
            events.contains { event in
                if case .snapshot(_, let token) = event {
                    String(decoding: token, as: UTF8.self) == "|e:10"
                } else {
                    false
                }
            })
    }
}
