import SwitchyardBytes

/// The key of one local Firebase, and what is made with it. Nobody else can make text that it opens.
struct LocalSeal: Sendable {
    let key: [UInt8]

    static func makeKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    func signature(of text: String) -> String {
        Base64.encode(HMACSHA256.code(for: Array(text.utf8), key: key), alphabet: .url)
    }

    func verifies(_ signature: some StringProtocol, of text: some StringProtocol) -> Bool {
        guard let bytes = Base64.decode(signature, alphabet: .url) else { return false }
        return HMACSHA256.areEqual(bytes, HMACSHA256.code(for: Array(text.utf8), key: key))
    }

    /// Text that carries `content` through a client and back. What is sealed as one kind opens as no other.
    func close(_ content: JSON, as kind: Kind) -> String {
        let text = kind.rawValue + "." + Base64.encode(content.bytes(), alphabet: .url)
        return text + "." + signature(of: text)
    }

    func open(_ text: String, as kind: Kind) -> JSONObject? {
        guard let dot = text.lastIndex(of: "."), text.hasPrefix(kind.rawValue + "."),
            verifies(text[text.index(after: dot)...], of: text[..<dot]),
            let body = Base64.decode(text[..<dot].dropFirst(kind.rawValue.count + 1), alphabet: .url)
        else { return nil }
        return (try? JSON(parsing: body))?.object
    }

    enum Kind: String {
        case refreshToken = "local-refresh"
        case pendingSecondFactor = "local-second-factor"
        case pendingCredential = "local-credential"
        case temporaryProof = "local-proof"
        case browserSession = "local-browser-session"
        case browserCode = "local-browser-code"
        case installationToken = "local-installation"
    }
}
