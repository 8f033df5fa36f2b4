package import SwitchyardBytes

/// Foreign tokens written by tests: a JWT whose signature cannot be checked here, or its claims as plain JSON.
package enum TestToken {
    package static func claims(_ text: String) -> JSONObject? {
        if text.first == "{" { return (try? JSON(parsing: text))?.object }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[1], alphabet: .url) else { return nil }
        return (try? JSON(parsing: bytes))?.object
    }
}
