/// An object that an installation creates in a database, by its name in SQL.
package struct SchemaObject: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case table, index, function, aggregate, trigger, policy, grant
    }

    package var kind: Kind
    /// The name with its schema; for triggers and policies, followed by “on” and the table; for grants, the text after “grant”.
    package var name: String
    /// `nil` for objects that every part needs.
    package var part: SchemaPart?
    /// Whether a function runs with its owner's rights.
    package var isDefiner = false
    /// Who may call a function.
    package var callers: Callers?

    /// Who may call a function, besides its owner.
    package enum Callers: String, Sendable {
        case everybody, users, readers, writers, callers
        case ownerOnly = "owner_only"
    }
}

/// All objects that installations create in a database, read from their SQL.
package struct SchemaInventory: Sendable {
    package private(set) var objects: [SchemaObject] = []
    private var callers: [String: SchemaObject.Callers] = [:]
    private var parts: [String: SchemaPart] = [:]

    package static let all: SchemaInventory = {
        var inventory = SchemaInventory()
        inventory.read(.common, of: nil)
        for part in SchemaPart.allCases { for file in part.files { inventory.read(file, of: part) } }
        inventory.read(.check, of: nil)
        for index in inventory.objects.indices { inventory.complete(&inventory.objects[index]) }
        return inventory
    }()

    /// The objects of the given parts, and those that every part needs.
    package func objects(of parts: Set<SchemaPart>) -> [SchemaObject] {
        objects.filter { $0.part.map(parts.contains) ?? true }
    }

    private mutating func read(_ file: SchemaFile, of part: SchemaPart?) {
        var header: SchemaObject?
        for line in file.sql.split(separator: "\n") {
            let line = line.drop { $0 == " " || $0 == "'" }
            if line.hasPrefix("('") { readValues(line) }
            let words = line.split { " (;".contains($0) }
            if let object = SchemaInventory.object(words, line, part) {
                if object.kind == .function { header = object } else { objects.append(object) }
            }
            guard var function = header else { continue }
            // The text before the body.
            let clauses = words.prefix { $0 != "$$" }
            function.isDefiner = function.isDefiner || clauses.contains("definer")
            if clauses.suffix(2) == ["returns", "trigger"] { function.callers = .ownerOnly }
            header = function
            guard clauses.count < words.count else { continue }
            objects.append(function)
            header = nil
        }
    }

    /// A row of one of the lists: who calls a function, a policy of a part, or one of the indexes.
    private mutating func readValues(_ line: Substring) {
        let fields = line.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
        guard fields.count > 4 else { return }
        let part = SchemaPart(rawValue: fields[1])
        if fields.count > 5, let who = SchemaObject.Callers(rawValue: fields[5]) {
            callers[fields[3]] = who
        } else if fields.count > 5, fields[5].hasPrefix("switchyard."), fields[5].contains(where: { $0 == "(" }) {
            objects.append(SchemaObject(kind: .index, name: "switchyard." + fields[3], part: part))
        } else {
            parts[fields[3]] = part
        }
    }

    private static func object(_ words: [Substring], _ line: Substring, _ part: SchemaPart?) -> SchemaObject? {
        func starts(_ text: String) -> Bool { words.starts(with: text.split(separator: " ")) }
        func made(_ kind: SchemaObject.Kind, _ index: Int, isPlaced: Bool = false) -> SchemaObject? {
            guard words.indices.contains(index), !words[index].hasPrefix("%") else { return nil }
            var name = String(words[index])
            if kind == .index { name = "switchyard." + name }
            if isPlaced {
                guard let on = words.firstIndex(of: "on"), on + 1 < words.count else { return nil }
                name += " on \(words[on + 1])"
            }
            return SchemaObject(kind: kind, name: name, part: part)
        }
        if starts("create or replace function") { return made(.function, 4) }
        if starts("create or replace aggregate") { return made(.aggregate, 4) }
        if starts("create table if not exists") { return made(.table, 5) }
        if starts("create index if not exists") { return made(.index, 5) }
        if starts("create unique index if not exists") { return made(.index, 6) }
        if starts("create policy") { return made(.policy, 2, isPlaced: true) }
        if starts("create trigger") { return made(.trigger, 2, isPlaced: true) }
        if starts("create or replace trigger") { return made(.trigger, 4, isPlaced: true) }
        if starts("grant") {
            return SchemaObject(kind: .grant, name: String(line.dropFirst(6).prefix { $0 != ";" }), part: part)
        }
        let written = "execute format('grant usage on schema switchyard to %I'"
        guard line.hasPrefix(written) else { return nil }
        return SchemaObject(
            kind: .grant, name: "usage on schema switchyard to the owner of realtime.messages", part: part)
    }

    /// Adds what lists in other files say about it.
    private func complete(_ object: inout SchemaObject) {
        if object.kind == .policy, let name = object.name.split(separator: " ").first {
            object.part = object.part ?? parts[String(name)] ?? (name == "documents_domain" ? .domain : nil)
        }
        if object.name.hasPrefix("select on switchyard.documents ") { object.part = .documents }
        guard object.kind == .function || object.kind == .aggregate, object.callers == nil else { return }
        object.callers = callers[object.name] ?? (object.isDefiner ? .ownerOnly : .callers)
    }
}
