/// The element of `names` that `name` probably means.
package func nearestName(to name: String, in names: [String]) -> String? {
    ConfigurationProblem.nearest(to: name, in: names)
}

/// One mistake in a configuration: where, what was found, what was expected, and the name that was probably meant.
struct ConfigurationProblem: Error {
    var path: [String]
    var found: String
    var expected: String
    var suggestion: String?
    /// Another place where the expected value may stand.
    var elsewhere: [String]?
    /// What to do if no known name is similar.
    var advice: String?
    var code = InfrastructureError.Code.invalidConfiguration

    /// The underlying error, for debugging.
    var underlying: (any Error)?

    var error: InfrastructureError {
        let place = path.isEmpty ? "the top level" : shown(path)
        let expected = expected + (elsewhere.map { " at \(shown($0))" } ?? "")
        let hint = suggestion.map { " Did you mean “\($0)”?" } ?? advice.map { " \($0)" } ?? ""
        return InfrastructureError(
            code, "Configuration, at \(place): found \(found), expected \(expected).\(hint)", underlying: underlying)
    }

    private func shown(_ path: [String]) -> String {
        "“\(path.map { $0.count > 80 ? $0.prefix(80) + "…" : $0 }.joined(separator: "."))”"
    }

    /// The same in a configuration that consists of environment variables.
    var inVariables: ConfigurationProblem {
        var problem = self
        problem.path = Self.variable(path)
        problem.elsewhere = elsewhere.map(Self.variable)
        return problem
    }

    /// The variable for a place in a file, and the place in its value.
    private static func variable(_ path: [String]) -> [String] {
        let prefix = "SWITCHYARD_"
        switch path.first {
        case "default": return [prefix + "DEFAULT"]
        case "stateFolder": return [prefix + "STATE_FOLDER"]
        case "localFiles": return [prefix + "LOCAL_FILES"] + path.dropFirst()
        case "retry": return [prefix + "RETRY"] + path.dropFirst()
        case "clients" where path.count > 1, "providers" where path.count > 1:
            let service = path[0] == "clients" ? InfrastructureService(rawValue: path[1]) : nil
            return [prefix + (service?.variable ?? path[1].uppercased())] + path.dropFirst(2)
        default: return path
        }
    }

    static func unset(_ variable: String, at path: [String]) -> ConfigurationProblem {
        ConfigurationProblem(
            path: path, found: "“${\(variable)}”", expected: "a variable that is set; \(variable) is not")
    }

    /// A name that no module has.
    static func unknownProvider(
        _ provider: InfrastructureProvider, at path: [String], known: [InfrastructureProvider]
    ) -> ConfigurationProblem {
        let canBeLeftOut = path == ["clients", "files"] || path == ["clients", "messaging"]
        let names = known.map(\.rawValue) + (canBeLeftOut ? [InfrastructureConfiguration.noProvider] : [])
        let shown = Secret.shown(provider.rawValue)
        return ConfigurationProblem(
            path: path, found: "the unknown provider \(shown)",
            expected: known.isEmpty
                ? "a provider, but the factory was given none" : "one of \(names.joined(separator: ", "))",
            suggestion: nearest(to: provider.rawValue, in: names),
            advice: "Add the module of \(shown) to those that the factory is given.", code: .unknownProvider)
    }

    /// A provider that lacks the requested client.
    static func missing(
        _ service: InfrastructureService, by provider: InfrastructureProvider, at path: [String], _ refusal: any Error
    ) -> ConfigurationProblem {
        // A domain client is missing if its storage is.
        let lacked = service.isCore ? service : .storage
        let noProvider = lacked == .files || lacked == .messaging ? " or “none”" : ""
        return ConfigurationProblem(
            path: path, found: "“\(provider)”, which has no client for \(lacked)",
            expected: "another provider\(noProvider)",
            elsewhere: path == ["default"] ? ["clients", lacked.rawValue] : nil,
            code: .unsupported, underlying: refusal)
    }

    /// The element of `names` closest to `name`, if it is close enough to be a typo.
    static func nearest(to name: String, in names: some Sequence<String>) -> String? {
        guard name.utf8.count <= 80 else { return nil }
        let scored = names.map { (name: $0, distance: distance(simplified(name), simplified($0))) }
        guard let best = scored.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) else { return nil }
        if best.distance <= max(1, name.count / 3) { return best.name }
        // Or `name` is only the beginning.
        let start = simplified(name)
        return start.count >= 3 ? names.filter { simplified($0).starts(with: start) }.min() : nil
    }

    /// Ignores case, dashes and underscores, the most common mistakes.
    private static func simplified(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// The number of letters to insert, remove, replace or swap with their neighbour.
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

extension InfrastructureService {
    /// The name of its environment variable after the prefix, such as `CHECK_INS`.
    var variable: String {
        rawValue.reduce(into: "") { name, letter in name += (letter.isUppercase ? "_" : "") + letter.uppercased() }
    }
}
