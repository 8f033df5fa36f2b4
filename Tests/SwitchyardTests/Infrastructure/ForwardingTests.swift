import Foundation
import Switchyard
import Testing

/// A wrapper that forgets a requirement with a default compiles, and silently loses what the wrapped client does better.
/// So every one is compared with its protocol, name by name.
@Suite struct ForwardingTests {
    /// A protocol's file, its name, and the files of what must have everything that it requires.
    struct Wrapping: Sendable, CustomStringConvertible {
        let name: String
        let file: String
        let wrappers: [String]
        var description: String { name }
    }

    static let wrappings = [
        Wrapping(
            name: "StorageClient", file: "Switchyard/Storage/Client/StorageClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableStorageClient", "Switchyard/Layers/StorageLayer",
                "SwitchyardDependencies/Unset/UnsetStorageClient",
            ]),
        Wrapping(
            name: "AuthClient", file: "Switchyard/Auth/AuthClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableAuthClient", "Switchyard/Layers/LayeredAuthClient",
                "SwitchyardDependencies/Unset/UnsetAuthClient",
            ]),
        Wrapping(
            name: "FileStorageClient", file: "Switchyard/FileStorage/FileStorageClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableFileStorageClient",
                "Switchyard/Layers/LayeredFileStorageClient", "SwitchyardDependencies/Unset/UnsetFileStorageClient",
            ]),
        Wrapping(
            name: "MessagingClient", file: "Switchyard/Messaging/MessagingClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableMessagingClient",
                "Switchyard/Layers/LayeredMessagingClient", "SwitchyardDependencies/Unset/UnsetMessagingClient",
            ]),
        Wrapping(
            name: "UserClient", file: "Switchyard/Domain/Users/UserClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableDomainClients",
                "SwitchyardDependencies/Unset/UnsetUserClient",
            ]),
        Wrapping(
            name: "ContactsClient", file: "Switchyard/Domain/Contacts/ContactsClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableDomainClients",
                "SwitchyardDependencies/Unset/UnsetContactsClient",
            ]),
        Wrapping(
            name: "CheckInClient", file: "Switchyard/Domain/CheckIns/CheckInClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableDomainClients",
                "SwitchyardDependencies/Unset/UnsetCheckInClient",
            ]),
        Wrapping(
            name: "NotificationClient", file: "Switchyard/Domain/Notifications/NotificationClient",
            wrappers: [
                "Switchyard/Infrastructure/Switching/SwitchableDomainClients",
                "SwitchyardDependencies/Unset/UnsetNotificationClient",
            ]),
    ]

    /// What is right for everybody who wraps nothing: an unset dependency has nothing to shut down or to unwrap.
    private static let unset: Set<String> = ["clock", "shutDown()", "unwrapped(as:)", "wipeRequests"]

    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: sources.appendingPathComponent(file + ".swift"), encoding: .utf8)
    }

    @Test(arguments: wrappings)
    func `Every wrapper has every requirement of what it wraps`(_ wrapping: Wrapping) throws {
        let requirements = try Members(body(of: "protocol \(wrapping.name)", in: Self.text(wrapping.file))).names
        #expect(requirements.count > 3)
        for file in wrapping.wrappers {
            let names = try Members(Self.text(file)).names
            var missing = requirements.subtracting(names)
            if file.contains("/Unset/") { missing.subtract(Self.unset) }
            #expect(missing.isEmpty, "\(file) lacks \(missing.sorted())")
        }
    }

    private func body(of declaration: String, in text: String) throws -> String {
        let start = try #require(text.range(of: declaration + ":") ?? text.range(of: declaration + " "))
        let end = try #require(text.range(of: "\n}\n", range: start.upperBound..<text.endIndex))
        return String(text[start.upperBound..<end.lowerBound])
    }
}

/// The functions and properties that are declared in a piece of source, by their full names.
private struct Members {
    private(set) var names: Set<String> = []

    init(_ text: String) {
        let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        for part in code.split(separator: "func ", omittingEmptySubsequences: false).dropFirst() {
            let name = part.prefix { $0 != "(" && $0 != "<" }
            guard let open = part.firstIndex(of: "(") else { continue }
            names.insert("\(name)(\(Self.labels(part[part.index(after: open)...])))")
        }
        for part in code.split(separator: "var ", omittingEmptySubsequences: false).dropFirst() {
            names.insert(String(part.prefix { $0 != ":" && $0 != " " && $0 != "=" }))
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
