/// Converts property names to field names, and back. Caches the results; used by one coding operation at a time.
struct KeyNames {
    let strategy: DocumentCoder.KeyStrategy
    private var known: [UTF8Key: String] = [:]

    init(_ strategy: DocumentCoder.KeyStrategy) { self.strategy = strategy }

    var changesNames: Bool { if case .asIs = strategy { false } else { true } }

    mutating func fieldName(for name: String) -> String {
        switch strategy {
        case .asIs: return name
        case .snakeCase, .custom:
            let key = UTF8Key(name)
            if let known = known[key] { return known }
            let result = changed(name)
            known[key] = result
            return result
        }
    }

    /// The key whose field is called `name`, if `Key` has one.
    mutating func key<Key: CodingKey>(_ type: Key.Type, forField name: String) -> Key? {
        if changesNames, case .snakeCase = strategy, let key = Key(stringValue: KeyNames.camelCase(name)),
            fieldName(for: key.stringValue).utf8Equals(name)
        {
            return key
        }
        guard let key = Key(stringValue: name) else { return nil }
        return fieldName(for: key.stringValue).utf8Equals(name) ? key : nil
    }

    private func changed(_ name: String) -> String {
        switch strategy {
        case .asIs: name
        case .snakeCase: KeyNames.snakeCase(name)
        case .custom(let change): change(name)
        }
    }

    /// `lastSeenURL` → `last_seen_url`, `URLOfSite` → `url_of_site`.
    static func snakeCase(_ name: String) -> String {
        let scalars = Array(name.unicodeScalars)
        var result = ""
        for (index, scalar) in scalars.enumerated() {
            let isUpper = scalar.properties.isUppercase
            if isUpper, index > 0, scalars[index - 1] != "_" {
                let followsLower = !scalars[index - 1].properties.isUppercase
                let beginsWord = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                if followsLower || beginsWord { result += "_" }
            }
            result += isUpper ? scalar.properties.lowercaseMapping : String(scalar)
        }
        return result
    }

    private static func camelCase(_ name: String) -> String {
        let parts = name.unicodeScalars.split(separator: "_").map { String($0) }
        guard let first = parts.first else { return name }
        return parts.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
