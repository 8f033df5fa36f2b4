package import SwitchyardBytes

/// The key of one local server, to seal text. Only this key can make text that it opens.
package struct ServerSigningKey: Sendable {
    package let key: [UInt8]

    package init(key: [UInt8]) { self.key = key }

    package static func makeKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    package func signature(of text: String) -> String {
        Base64.encode(HMACSHA256.code(for: Array(text.utf8), key: key), alphabet: .url)
    }

    package func verifies(_ signature: some StringProtocol, of text: some StringProtocol) -> Bool {
        guard let bytes = Base64.decode(signature, alphabet: .url) else { return false }
        return HMACSHA256.areEqual(bytes, HMACSHA256.code(for: Array(text.utf8), key: key))
    }

    /// Seals `content` for a round trip through a client. Text sealed as one kind does not open as another.
    package func close(_ content: JSON, as kind: Kind) -> String {
        let text = kind.name + "." + Base64.encode(content.bytes(), alphabet: .url)
        return text + "." + signature(of: text)
    }

    package func open(_ text: String, as kind: Kind) -> JSONObject? {
        guard let dot = text.lastIndex(of: "."), text.hasPrefix(kind.name + "."),
            verifies(text[text.index(after: dot)...], of: text[..<dot]),
            let body = Base64.decode(text[..<dot].dropFirst(kind.name.count + 1), alphabet: .url)
        else { return nil }
        return (try? JSON(parsing: body))?.object
    }

    /// The purpose of sealed text.
    package struct Kind: Sendable {
        let name: String

        package init(_ name: String) { self.name = name }

        package static let browserSession = Kind("local-browser-session")
        package static let browserCode = Kind("local-browser-code")
    }
}

/// Foreign tokens written by tests: a JWT whose signature cannot be checked here, or its claims as plain JSON.
package enum TestToken {
    package static func claims(_ text: String) -> JSONObject? {
        if text.first == "{" { return (try? JSON(parsing: text))?.object }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }
}
