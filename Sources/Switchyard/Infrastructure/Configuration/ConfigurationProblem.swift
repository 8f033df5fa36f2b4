/// One mistake in a configuration: where, what was found, what was expected, and the name that was probably meant.
struct ConfigurationProblem: Error {
    var path: [String]
    var found: String
    var expected: String
    var suggestion: String?

    var error: InfrastructureError {
        let place = path.isEmpty ? "the top level" : "“\(path.joined(separator: "."))”"
        let hint = suggestion.map { " Did you mean “\($0)”?" } ?? ""
        return InfrastructureError(
            .invalidConfiguration, "Configuration, at \(place): found \(found), expected \(expected).\(hint)")
    }

    /// The one of `names` that is closest to `name`, if any is close enough to be a slip.
    static func nearest(to name: String, in names: some Sequence<String>) -> String? {
        let scored = names.map { (name: $0, distance: distance(simplified(name), simplified($0))) }
        guard let best = scored.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) else { return nil }
        return best.distance <= max(1, name.count / 3) ? best.name : nil
    }

    /// Case, dashes and underscores are what people get wrong first.
    private static func simplified(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// How many letters must be inserted, removed, replaced or exchanged with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var rows = [Array(0...right.count)]
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
