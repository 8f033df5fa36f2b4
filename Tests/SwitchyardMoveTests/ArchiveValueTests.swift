import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import Testing

@testable import SwitchyardMove

@Suite struct ArchiveValueTests {
    static let values: [DocumentValue] = [
        .null, .bool(true), .bool(false), .integer(.min), .integer(.max), .integer(0), .double(0), .double(-0.0),
        .double(1),
        .double(.nan), .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude),
        .double(.greatestFiniteMagnitude), .double(0.1), .timestamp(.distantPast), .timestamp(.distantFuture),
        .timestamp(Timestamp(clampingSeconds: -1, nanoseconds: 999_999_999)), .string(""), .string("\u{0}\u{1}\"\\/"),
        .string("é"), .string("e\u{301}"), .string("😀\u{2028}"), .bytes(Data()), .bytes(Data([0, 255, 10])),
        .reference(DocumentReference("a/b")), .reference(DocumentReference("a/é", origin: "other/database")),
        // The bounds are legal.
        .geoPoint(try! GeoPoint(latitude: -90, longitude: 180)), .array([]), .array([.integer(1), .double(1), .null]),
        .vector([]), .vector([1, -0.0, .nan]), .map([:]), .map(["double": .double(1), "": .null]),
        .map(["é": .integer(1), "e\u{301}": .integer(2)]),
    ]

    @Test(arguments: values) func `Each kind of value comes back as it was`(value: DocumentValue) throws {
        try check(.existing("things/1", ["value": value]))
    }

    @Test func `Random documents come back as they were, with the server's times`() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let created = Timestamp(clampingSeconds: Int64(random.int(-9..<9)), nanoseconds: Int32(random.int(0..<999)))
            try check(.existing(random.path(), random.data(), createTime: created, updateTime: .distantFuture))
        }
    }

    private func check(_ document: DocumentSnapshot) throws {
        let line = try ArchivedDocument.line(document)
        #expect(!line.contains(UInt8(ascii: "\n")))
        let read = try ArchivedDocument.document(line)
        #expect(read == document)
        #expect(read.data?.revealed == document.data?.revealed)
        #expect(try ArchivedDocument.line(read) == line)
    }

    @Test func `Documents have equal hashes if they are equal, and different ones otherwise`() {
        var random = SeededGenerator(seed: 5)
        let documents =
            Self.values.map { DocumentSnapshot.existing("a/b", ["v": $0]) }
            + (0..<300).map { _ in DocumentSnapshot.existing("a/b", random.data()) }
        let digests = documents.map(CanonicalBytes.digest)
        for (left, digest) in zip(documents, digests) {
            for (right, other) in zip(documents, digests) where (left.data == right.data) != (digest == other) {
                Issue.record("\(left.data?.revealed ?? "") and \(right.data?.revealed ?? "")")
            }
        }
    }

    @Test func `An account comes back with its claims and each kind of hash`() throws {
        let settings = PasswordHash.ScryptSettings(signerKey: "a2V5", saltSeparator: "Bw==", rounds: 8, memoryCost: 14)
        let hashes: [PasswordHash?] = [
            nil, .bcrypt("$2b$10$abc"), .argon2("$argon2id$x"), .pbkdf2SHA256(hash: "aA==", salt: "cw==", rounds: 9),
            .keyedScrypt(hash: "aA==", salt: "cw==", settings),
        ]
        for hash in hashes {
            let user = AuthUser(
                id: "a/1", email: "a@example.com", isEmailVerified: true, phoneNumber: "+15550100", displayName: "A",
                photoURL: URL(string: "https://example.com/a"), identities: [.password])
            let account = MovedAccount(
                ManagedAccount(user, isDisabled: true, claims: ["n": .double(1), "m": ["x": .null]]), passwordHash: hash
            )
            #expect(try ArchivedAccount.account(ArchivedAccount.line(account)) == account)
        }
    }

    @Test func `A line that cannot be read is named with its file and place`() throws {
        let bed = MoveBed()
        let lines = LineFolder(url: bed.folder("documents/things"))
        try lines.write([Array(#"{"path":"things/1","data":{}}"#.utf8), Array("nonsense".utf8)], as: "1")
        let documents = ArchiveDocuments(folder: bed.folder("documents"))
        #expect(throws: Never.self) { try lines.count() }
        let error = #expect(throws: MoveError.self) {
            try lines.lines(after: nil, limit: 9).lines.map { try $0.read(ArchivedDocument.document) }
        }
        #expect(error?.message.contains("“1.jsonl”: the line at byte 30 cannot be read") == true)
        #expect(documents.limits == ValueLimits())
    }

    @Test func `An archive finds documents and accounts wherever they are, and what was written since`() async throws {
        let bed = MoveBed()
        let documents = ArchiveDocuments(folder: bed.folder("documents"))
        func document(_ number: Int, _ text: String) -> DocumentSnapshot {
            .existing(StoragePath(unchecked: "things/\(number)"), ["text": .string(text), "n": .of(number)])
        }
        for page in 0..<4 {
            let part = (0..<25).map { document(page * 25 + $0, "first") }
            #expect(try await documents.write(part, of: "things", page: "\(page)").isEmpty)
        }
        let paths: [StoragePath] = ["things/99", "things/100", "things/0", "others/0", "things/31"]
        func found() async throws -> [String?] {
            try await documents.documents(paths).map { $0["text"]?.stringValue }
        }
        #expect(try await found() == ["first", nil, "first", nil, "first"])
        _ = try await documents.write([document(31, "second"), document(100, "second")], of: "things", page: "1")
        #expect(try await found() == ["first", "second", "first", nil, "second"])
        #expect(try await documents.documents(paths).map(\.path) == paths)

        let accounts = ArchiveAccounts(lines: LineFolder(url: bed.folder("accounts")))
        func account(_ id: String) -> MovedAccount {
            MovedAccount(ManagedAccount(AuthUser(id: id, email: "\(id)@example.com")), passwordHash: nil)
        }
        _ = try await accounts.add((0..<30).map { account("a\($0)") }, page: "1")
        _ = try await accounts.add((30..<60).map { account("a\($0)") }, page: "2")
        #expect(try await accounts.accounts(["a59", "b", "a0"]).map { $0?.id } == ["a59", nil, "a0"])
    }
}
