/// Parses comma-separated values.
enum RESTTableText {
    /// - Returns: The values of each line, without quotes.
    static func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var (value, isQuoted) = ("", false)
        var rest = Array(text)[...]
        func end(_ row: inout [String], _ value: inout String) {
            row.append(value)
            value = ""
        }
        while let letter = rest.popFirst() {
            if isQuoted {
                if letter != "\"" {
                    value.append(letter)
                } else if rest.first == "\"" {
                    value.append("\"")
                    rest.removeFirst()
                } else {
                    isQuoted = false
                }
                continue
            }
            switch letter {
            case "\"" where value.isEmpty: isQuoted = true
            case ",": end(&row, &value)
            case "\n", "\r\n":
                end(&row, &value)
                rows.append(row)
                row = []
            default: value.append(letter)
            }
        }
        if !row.isEmpty || !value.isEmpty {
            end(&row, &value)
            rows.append(row)
        }
        return rows
    }
}
