/// Text in lines of a given width.
enum Wrapped {
    /// The lines of `text`, broken at spaces. A word that is longer than a line has a line of its own.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in paragraph.split(separator: " ") {
                if line.isEmpty {
                    line = String(word)
                } else if line.count + 1 + word.count <= width {
                    line += " " + word
                } else {
                    lines.append(line)
                    line = String(word)
                }
            }
            lines.append(line)
        }
        return lines
    }

    /// A table of two columns, the second one wrapped. A first column that is too wide has a line of its own.
    static func columns(_ rows: [(String, String)], indent: Int = 2, first: Int, width: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        let rest = max(20, width - indent - first)
        return rows.flatMap { left, right in
            var lines = Self.lines(right, width: rest)
            guard left.count + 2 <= first else {
                return [margin + left] + lines.map { margin + String(repeating: " ", count: first) + $0 }
            }
            let head = margin + left + String(repeating: " ", count: first - left.count) + (lines.first ?? "")
            lines = lines.dropFirst().map { margin + String(repeating: " ", count: first) + $0 }
            return [head] + lines
        }
    }
}
