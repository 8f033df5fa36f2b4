import Foundation
import Testing

@testable import Switchyard

/// A wrapper that forgets a requirement with a default compiles, and silently loses what the wrapped client does better.
/// So the one routed client of each protocol is compared with it, name by name; no one else names them all.
@Suite struct ForwardingTests {
    /// Where each protocol is.
    static let protocols = [
        "StorageClient": "Storage/Client", "AuthClient": "Auth", "FileStorageClient": "FileStorage",
        "MessagingClient": "Messaging", "UserClient": "Domain/Users", "ContactsClient": "Domain/Contacts",
        "CheckInClient": "Domain/CheckIns", "NotificationClient": "Domain/Notifications",
    ]

    /// What an infrastructure makes and no service chooses.
    static let others = ["AdminClient": "Administration", "MessageSender": "Messaging", "TokenVerifier": "Servers"]

    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/Switchyard")

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: sources.appendingPathComponent(file + ".swift"), encoding: .utf8)
    }

    @Test(arguments: (Array(protocols.keys) + Array(others.keys)).sorted())
    func `The routed client names each requirement of its protocol once`(_ name: String) throws {
        let folder = try #require(Self.protocols[name] ?? Self.others[name])
        let requirements = try Members(body(of: "protocol \(name)", in: Self.text("\(folder)/\(name)")))
        #expect(requirements.names.count > 1)
        let forwarder = try Self.text("Forwarding/Routed\(name)")
        // Clients that only `Routed` forwards to need no protocol of their own.
        let isOwn = forwarder.contains("protocol Routed\(name)")
        let declaration = isOwn ? "extension Routed\(name)" : "extension Routed: \(name) where"
        let routed = try Members(body(of: declaration, in: forwarder))
        #expect(routed.names == requirements.names)
    }

    @Test(arguments: protocols.keys.sorted())
    func `The stub names each requirement of its protocol once`(_ name: String) throws {
        let folder = try #require(Self.protocols[name])
        let requirements = try Members(body(of: "protocol \(name)", in: Self.text("\(folder)/\(name)")))
        let file = Self.sources.appendingPathComponent("../../Plugins/SwitchyardMock/Stubs/Stub\(name).swift")
        let text = try String(contentsOf: file.standardized, encoding: .utf8)
        let start = try #require(text.range(of: "// MARK: Requirements\n"))
        #expect(Members(String(text[start.upperBound...])).names == requirements.names)
    }

    @Test func `There is a routed client and a slot for every service`() {
        #expect(Self.protocols.count == InfrastructureService.allCases.count)
        #expect(ClientTable().all.map(\.service) == InfrastructureService.allCases)
    }

    private func body(of declaration: String, in text: String) throws -> String {
        let start = try #require(text.range(of: declaration + ":") ?? text.range(of: declaration + " "))
        let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
        return String(text[start.upperBound..<end.lowerBound])
    }
}

/// The functions and properties that are declared in a piece of source, by their full names, and how often each is.
private struct Members {
    private(set) var names: [String: Int] = [:]

    init(_ text: String) {
        let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        for part in code.split(separator: "func ", omittingEmptySubsequences: false).dropFirst() {
            let name = part.prefix { $0 != "(" && $0 != "<" }
            guard let open = part.firstIndex(of: "(") else { continue }
            names["\(name)(\(Self.labels(part[part.index(after: open)...])))", default: 0] += 1
        }
        for part in code.split(separator: "var ", omittingEmptySubsequences: false).dropFirst() {
            names[String(part.prefix { $0 != ":" && $0 != " " && $0 != "=" }), default: 0] += 1
        }
    }

    /// - Parameter text: What follows the opening parenthesis.
    private static func labels(_ text: Substring) -> String {
        var depth = 0
        var parameters: [Substring] = []
        var start = text.startIndex
        for index in text.indices {
            let character = text[index]
            if "([<".contains(character) { depth += 1 }
            if ")]".contains(character) || (character == ">" && text[..<index].last != "-") { depth -= 1 }
            guard depth < 0 || (depth == 0 && character == ",") else { continue }
            parameters.append(text[start..<index])
            start = text.index(after: index)
            if depth < 0 { break }
        }
        return parameters.compactMap { parameter in
            parameter.split { $0 == " " || $0 == "\n" || $0 == ":" }.first.map { $0 + ":" }
        }.joined()
    }
}
