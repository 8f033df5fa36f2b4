/// How an invalid path is kept as text until the first operation refuses it.
///
/// Behind a slash, with which no path begins, comes the reason, then NUL, which no path holds, then the text that was asked
/// for. So a path needs no second property, one look at the first byte tells, and no server could take it for another path.
enum InvalidPath {
    static func marked(_ text: String, _ problem: String) -> String { "/\(problem)\u{0}\(text)" }

    static func isMarked(_ rawValue: String) -> Bool { rawValue.utf8.first == PathSegment.slash }

    /// What was asked for.
    static func text(of rawValue: String) -> String {
        guard let end = rawValue.utf8.firstIndex(of: 0) else { return rawValue }
        return String(rawValue[rawValue.utf8.index(after: end)...])
    }

    /// Why it is invalid.
    static func problem(of rawValue: String) -> String {
        guard isMarked(rawValue), let end = rawValue.utf8.firstIndex(of: 0) else { return "it begins with a slash" }
        return String(rawValue.utf8.dropFirst()[..<end]) ?? ""
    }

    /// The same without the last segment of what was asked for; `nil` if that has only one.
    static func droppingLast(of rawValue: String) -> String? {
        let text = text(of: rawValue)
        guard let slash = text.utf8.lastIndex(of: PathSegment.slash) else { return nil }
        return marked(String(text[..<slash]), problem(of: rawValue))
    }

    /// What to say of `text`, shortened where it is endless.
    static func message(_ text: String, isNo kind: String, _ problem: String) -> String {
        let shown = text.utf8.count > 300 ? text.prefix(200) + "…" : text[...]
        return "“\(shown)” is not a \(kind): \(problem)."
    }
}
