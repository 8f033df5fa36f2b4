extension SchemaObject {
    /// Why it exists; `nil` if none is recorded.
    package var reason: String? { SchemaReasons.reasons[name] }

    /// What a function checks that runs with its owner's rights; `nil` for others, and if none is recorded.
    package var checks: String? { isDefiner ? SchemaReasons.checks[name] : nil }

    fileprivate var line: String {
        var line = "  \(kind) \(name): \(reason ?? "unknown")."
        if let callers { line += " For \(callers.words)." }
        if isDefiner { line += " SECURITY DEFINER; checks \(checks ?? "unknown")." }
        return line
    }
}

extension SchemaObject.Callers {
    fileprivate var words: String {
        switch self {
        case .everybody: "anon, authenticated and service_role"
        case .users: "authenticated and service_role"
        case .readers: "authenticated and service_role; for anon while a collection is open to everybody for reading"
        case .writers: "authenticated and service_role; for anon while a collection is open to everybody for writing"
        case .callers:
            "authenticated and service_role; for anon while a collection is open to everybody for writing, or rows for reading"
        case .ownerOnly: "its owner"
        }
    }
}

extension DocumentSchema {
    /// Every object of an installation, with its reason, who may call it, and what it checks if it has its owner's rights.
    package static func explanation(of parts: Set<SchemaPart>) -> String {
        let objects = SchemaInventory.all.objects(of: parts.withBases)
        let groups: [SchemaPart?] = [nil] + parts.withBases.sorted
        return groups.map { part in
            let own = objects.filter { $0.part == part }
            let functions = own.filter { $0.callers != nil }
            let lines = SchemaObject.Kind.allCases.flatMap { kind in own.filter { $0.kind == kind }.map(\.line) }
            return """
                \(part?.rawValue ?? "every part"): \(functions.count) functions, \(functions.count(where: \.isDefiner)) of them SECURITY DEFINER
                \(lines.joined(separator: "\n"))
                """
        }.joined(separator: "\n\n") + "\n\nNo publication changes, and no table of the project's own."
    }
}
