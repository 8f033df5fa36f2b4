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

    /// How many letters must be inserted, removed or replaced.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (a == b ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[right.count]
    }
}
