extension URLParts {
    /// Resolves `reference` relative to this URL (RFC 3986, 5.2); `nil` if it is invalid.
    package func resolving(_ reference: String) -> String? {
        let reference = reference[..<(reference.firstIndex(of: "#") ?? reference.endIndex)]
        guard reference.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        if Self.hasScheme(reference) { return String(reference) }
        if reference.hasPrefix("//") { return "\(scheme):\(reference)" }

        let base = port.map { "\(scheme)://\(host):\($0)" } ?? "\(scheme)://\(host)"
        let ownQuery = query.map { "?\($0)" } ?? ""
        if reference.isEmpty { return base + path + ownQuery }
        if reference.hasPrefix("?") { return base + path + reference }
        let mark = reference.firstIndex(of: "?") ?? reference.endIndex
        let target = reference[..<mark]
        let merged: String
        if target.hasPrefix("/") {
            merged = String(target)
        } else {
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
            merged = String(folder + target)
        }
        return base + Self.removingDotSegments(merged) + reference[mark...]
    }

    private static func hasScheme(_ reference: Substring) -> Bool {
        guard let colon = reference.firstIndex(of: ":"), colon != reference.startIndex else { return false }
        return !reference[..<colon].contains { $0 == "/" || $0 == "?" }
    }

    /// RFC 3986, 5.2.4, for paths that begin with "/".
    static func removingDotSegments(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
