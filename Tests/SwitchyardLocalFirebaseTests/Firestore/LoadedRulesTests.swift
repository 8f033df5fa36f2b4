import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardLocalFirebase
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@Suite struct `Rules that a test loads` {
    private func load(_ rules: String, hasDomain: Bool) async throws -> LocalClient.Answer {
        var options = LocalFirebaseOptions()
        options.hasDomainRules = hasDomain
        let client = try LocalClient(options)
        let answer = try await client.send(
            .put, "/emulator/v1/projects/demo-other:securityRules",
            ["rules": ["files": [["name": "security.rules", "content": .string(rules)]]]])
        await client.stop()
        return answer
    }

    @Test func `Those that apply anyway are taken, whatever their space and comments`() async throws {
        let rules = FirestoreRulesText.domain
        #expect(try await load(rules, hasDomain: true).status == 200)
        let other = rules.split(separator: "\n").map { "  \($0) // \($0)" }.joined(separator: "\n\n")
        #expect(try await load("/* first\n second */" + other, hasDomain: true).status == 200)
    }

    @Test func `Others are refused with their first line that differs`() async throws {
        let rules = FirestoreRulesText.domain
        let open = "rules_version = '2';\nservice cloud.firestore {\n  match /{all=**} { allow read; }\n}"
        let answer = try await load(open, hasDomain: true)
        #expect(answer.status == 501)
        #expect(answer.errorStatus == "UNIMPLEMENTED")
        let message = answer.json["error"]?["message"]?.string ?? ""
        #expect(message.includes("line 3 differs: “match /{all=**} { allow read; }”"))
        #expect(try await load(String(rules.dropLast(4)), hasDomain: true).status == 501, "the end is missing")
        #expect(try await load(rules, hasDomain: false).status == 501, "they do not apply")
    }
}
