package import SwitchyardBytes

/// Tokens of others, as tests write them: a JWT whose signature nobody here could check, or its claims as bare JSON.
package enum TestToken {
    package static func claims(_ text: String) -> JSONObject? {
        if text.first == "{" { return (try? JSON(parsing: text))?.object }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }
}
