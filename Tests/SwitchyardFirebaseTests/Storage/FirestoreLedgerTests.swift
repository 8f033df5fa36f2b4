import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// What makes a commit take effect once.
@Suite struct FirestoreLedgerTests {
    private func batch(_ writes: DocumentWrite...) -> OutgoingBatch {
        OutgoingBatch(id: "batch-1", writes: writes, mayHaveBeenSent: true)
    }

    private static let lost = ScriptedExchange.matching("commit", { $0.request.url.hasSuffix(":commit") }) { _ in
        .failure(TransportError(.connectionLost, "x", mayHaveBeenSent: true))
    }

    private static func entry() -> ScriptedExchange {
        FirestoreBed.call(
            "batchGet",
            #"[{"found":\#(FirestoreBed.document("ledger/batch-1")),"readTime":"\#(FirestoreBed.time)"}]"#)
    }

    @Test func `A batch that is not idempotent leaves its name, in a write that must find nothing there`() async throws
    {
        let bed = try FirestoreBed(FirestoreBed.committed(2), ledger: "ledger")
        let result = try await bed.driver.commit(batch(try .merge("a/b", ["n": .increment(1)])))
        #expect(result.updateTimes.count == 1, "the entry's own result is no one's business")
        let entry = bed.body(0)["writes"]?[1]
        #expect(entry?["update"]?["name"]?.string == "\(FirestoreBed.root)/ledger/batch-1")
        #expect(entry?["currentDocument"] == ["exists": false])
    }

    @Test func `A batch that is idempotent by nature leaves nothing`() async throws {
        let bed = try FirestoreBed(FirestoreBed.committed(1), ledger: "ledger")
        _ = try await bed.driver.commit(batch(try .set("a/b", ["n": 1])))
        #expect(bed.body(0)["writes"]?.array?.count == 1)
    }

    @Test func `Without a ledger nothing is added`() async throws {
        let bed = try FirestoreBed(FirestoreBed.committed(1))
        #expect(!bed.driver.traits.hasLedger)
        _ = try await bed.driver.commit(batch(try .merge("a/b", ["n": .increment(1)])))
        #expect(bed.body(0)["writes"]?.array?.count == 1)
        #expect(try await bed.driver.result(of: batch()) == nil, "no one knows")
    }

    @Test func `A name that is there already is the proof that an earlier attempt arrived`() async throws {
        let bed = try FirestoreBed(
            FirestoreBed.refusal("commit", "ALREADY_EXISTS", status: 409), Self.entry(), ledger: "ledger")
        let result = try await bed.driver.commit(batch(try .merge("a/b", ["n": .increment(1)])))
        #expect(result.commitTime == Timestamp(microseconds: 1_795_226_095_780_965))
        try bed.transport.verify()
    }

    @Test func `Another document that exists already is still an error`() async throws {
        let missing = FirestoreBed.call(
            "batchGet", #"[{"missing":"\#(FirestoreBed.root)/ledger/batch-1","readTime":"\#(FirestoreBed.time)"}]"#)
        let bed = try FirestoreBed(
            FirestoreBed.refusal("commit", "ALREADY_EXISTS", status: 409), missing, ledger: "ledger")
        let batch = batch(try .create("a/b", ["n": 1]))
        let error = await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.code == .alreadyExists)
    }

    private static let found = FirestoreBed.call(
        "batchGet", #"[{"missing":"\#(FirestoreBed.root)/ledger/batch-1","readTime":"\#(FirestoreBed.time)"}]"#)

    @Test(arguments: [true, false])
    func `A ledger that the rules forbid is told apart from the user's document`(_ isReadable: Bool) async throws {
        let bed = try FirestoreBed(
            FirestoreBed.refusal("commit", "PERMISSION_DENIED", status: 403),
            isReadable ? Self.found : FirestoreBed.refusal("batchGet", "PERMISSION_DENIED", status: 403),
            ledger: "ledger")
        let batch = batch(try .merge("a/b", ["n": .increment(1)]))
        let error = try #require(
            await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) })
        #expect(error.code == .unauthorized && error.isRefusal)
        let rule = "“match /ledger/{batch} { allow create, get: if request.auth != null; }”"
        #expect(
            error.message
                == (isReadable
                    ? "The security rules do not allow it (the reason). No user was signed in. The batch also creates a document of the write ledger "
                        + "“ledger”: if the rules allow the rest, add \(rule)."
                    : "The security rules do not allow the write ledger “ledger”, where each batch that must not be repeated "
                        + "creates a document. Add \(rule)."))
        try bed.transport.verify()
    }

    @Test func `A refused batch without an entry is the user's own`() async throws {
        let bed = try FirestoreBed(
            FirestoreBed.refusal("commit", "PERMISSION_DENIED", status: 403), ledger: "ledger")
        let batch = batch(try .set("a/b", ["n": 1]))
        let error = await bed.error { () async throws(StorageError) in try await bed.driver.commit(batch) }
        #expect(error?.message == "The security rules do not allow it (the reason). No user was signed in.")
        try bed.transport.verify()
    }

    @Test func `A look-up that the rules forbid names the ledger`() async throws {
        let bed = try FirestoreBed(FirestoreBed.refusal("batchGet", "PERMISSION_DENIED", status: 403), ledger: "ledger")
        let error = await bed.error { () async throws(StorageError) in try await bed.driver.result(of: batch()) }
        #expect(error?.message.contains("do not allow reading the write ledger “ledger”") == true)
    }

    @Test func `A transaction whose answer is lost takes its own name, so that it can never arrive later`() async throws
    {
        let bed = try FirestoreBed(Self.lost, FirestoreBed.committed(1), ledger: "ledger")
        let transaction = try await bed.driver.makeTransaction()
        let error = await bed.error { () async throws(StorageError) in
            try await transaction.commit([.merge("a/b", ["n": .increment(1)])])
        }
        #expect(error?.code == .aborted && error?.isRetryable == true, "it did not happen, and may be tried again")
        let names = (0..<2).map { bed.body($0)["writes"]?.array?.last?["update"]?["name"]?.string }
        #expect(names[0] != nil && names[0] == names[1])
        try bed.transport.verify()
    }

    @Test func `A transaction whose answer is lost and whose name is there has happened`() async throws {
        let bed = try FirestoreBed(
            Self.lost, FirestoreBed.refusal("commit", "ALREADY_EXISTS", status: 409), ledger: "ledger")
        bed.transport.expect(
            .matching("batchGet", { $0.request.url.hasSuffix(":batchGet") }) { recorded in
                let name = (try? JSON(parsing: recorded.body))?["documents"]?[0]?.string ?? ""
                let time = FirestoreBed.time
                return .json(
                    #"[{"found":{"name":"\#(name)","createTime":"\#(time)","updateTime":"\#(time)"},"readTime":"\#(time)"}]"#
                )
            })
        let transaction = try await bed.driver.makeTransaction()
        let answer = try await transaction.commit([.merge("a/b", ["n": .increment(1)])])
        #expect(answer.updateTimes == [nil])
        try bed.transport.verify()
    }

    @Test func `Without a ledger a lost transaction is an error that says so`() async throws {
        let bed = try FirestoreBed(Self.lost)
        let transaction = try await bed.driver.makeTransaction()
        let error = await bed.error { () async throws(StorageError) in
            try await transaction.commit([.merge("a/b", ["n": .increment(1)])])
        }
        #expect(error?.code == .unavailable)
        try bed.transport.verify()
    }
}
