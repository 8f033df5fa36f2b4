/// How an invalid path is kept as text until the first operation refuses it.
///
/// The format is a slash, with which no valid path begins, the reason, a NUL, which no path contains, and the original text.
/// So a path needs no second property, the first byte marks it as invalid, and no server could mistake it for another path.
enum InvalidPath {
    static func marked(_ text: String, _ problem: String) -> String { "/\(problem)\u{0}\(text)" }

    static func isMarked(_ rawValue: String) -> Bool { rawValue.utf8.first == PathSegment.slash }

    /// The original text.
    static func text(of rawValue: String) -> String {
        guard let end = rawValue.utf8.firstIndex(of: 0) else { return rawValue }
        return String(rawValue[rawValue.utf8.index(after: end)...])
    }

    /// Why it is invalid.
    static func problem(of rawValue: String) -> String {
        guard isMarked(rawValue), let end = rawValue.utf8.firstIndex(of: 0) else { return "it begins with a slash" }
        return String(rawValue.utf8.dropFirst()[..<end]) ?? ""
    }

    /// The same without the last segment of the original text; `nil` if that has only one.
    static func droppingLast(of rawValue: String) -> String? {
        let text = text(of: rawValue)
        guard let slash = text.utf8.lastIndex(of: PathSegment.slash) else { return nil }
        return marked(String(text[..<slash]), problem(of: rawValue))
    }

    /// The error message for `text`, which is shortened if it is very long.
    static func message(_ text: String, isNo kind: String, _ problem: String) -> String {
        let shown = text.utf8.count > 300 ? text.prefix(200) + "…" : text[...]
        return "“\(shown)” is not a \(kind): \(problem)."
    }
}
