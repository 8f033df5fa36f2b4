import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardPage
import SwitchyardTestSupport
import SwitchyardWire
import Testing

/// The texts that explain decisions say what the server does.
@Suite struct RulesAgreementTests {
    private static let users: [String?] = [nil, "alice", "bob", "carol"]
    private static let paths = [
        "users/alice", "users/bob", "users/alice/notes/a", "users/alice/contacts/bob",
        "users/alice/contactRequests/bob", "users/alice/contactRequests/carol", "users/alice/notifications/n",
        "users/bob/contacts/alice",
        "users/alice/blockedContacts/carol", "checkIns/alice", "notes/a", "notes/b/parts/c", "ledger/x",
    ]
    private static let data: [JSON] = [
        [:], ["owner": "alice"], ["owner": 5], ["userID": "alice"], ["name": "Bob", "isResponder": true],
        ["name": "Bob"], ["title": "Hi"], ["title": 1], ["note": "x", "isDependent": true],
    ]

    @Test(arguments: [false, true])
    func `Each decision is explained by the text that says the same`(hasDomain: Bool) async throws {
        var options = LocalFirebaseOptions()
        options.hasDomainRules = hasDomain
        let firebase = try LocalFirebase(options)
        let bed = try PageBed([try await .local(firebase)], backend: "firebase")
        for (path, data): (String, JSON) in [
            ("users/alice", ["name": "Alice"]), ("users/alice/contacts/bob", ["name": "Bob", "isResponder": true]),
            ("users/bob/contacts/alice", ["name": "Alice"]), ("users/alice/blockedContacts/carol", [:]),
            ("checkIns/alice", ["userID": "alice"]), ("notes/a", ["owner": "alice"]),
        ] {
            try await bed.call(.post, "write", ["kind": "set", "path": .string(path), "data": data])
        }
        var count = 0
        for path in Self.paths {
            for user in Self.users {
                for data in Self.data {
                    let persona: JSON = user.map { ["user": .string($0)] } ?? ["signedOut": true]
                    let answer = try await bed.call(
                        .post, "actAs/check", ["path": .string(path), "as": persona, "data": data])
                    for deed in ["read", "write"] {
                        let steps = answer[deed]?["explanation"]?["steps"]?.array ?? []
                        #expect(!steps.isEmpty)
                        let own = steps.filter { $0["name"] == "the server itself" }
                        #expect(own.isEmpty, "\(deed) \(path) by \(user ?? "no one"): \(data.text()) \(answer.text())")
                        count += 1
                    }
                }
            }
        }
        #expect(count == Self.paths.count * Self.users.count * Self.data.count * 2)
        await bed.stop()
        await firebase.stop()
    }
}
