import Switchyard
import SwitchyardBytes

/// Writes Swift types as source text.
struct SwiftWriter {
    var isPublic = false
    /// How the file came about.
    var source = ""

    private var access: String { isPublic ? "public " : "" }

    func file(_ types: [SwiftStruct]) -> String {
        let word = isPublic ? "public import" : "import"
        let modules = (types.contains(where: Self.usesFoundation) ? ["Foundation"] : []) + ["Switchyard"]
        let imports = modules.map { "\(word) \($0)" }.joined(separator: "\n")
        let body = types.map { text(of: $0, indent: "") }.joined(separator: "\n\n")
        return """
            // Made by “switchyard \(source)”. It makes the file again, without changes that are made here.

            \(imports)

            \(body)

            """
    }

    private static func usesFoundation(_ type: SwiftStruct) -> Bool {
        type.id == "UUID" || type.members.contains { usesFoundation($0.type) }
    }

    private static func usesFoundation(_ type: SwiftType) -> Bool {
        switch type {
        case .named(let name): ["Data", "UUID", "Decimal"].contains(name)
        case .array(let element, _), .dictionary(let element): usesFoundation(element)
        case .nested(let type): usesFoundation(type)
        case .enumeration: false
        }
    }

    private func text(of type: SwiftStruct, indent: String) -> String {
        var (own, nested) = (type, [String]())
        lift(&own, &nested, indent: indent + "    ")
        let fields = own.members.map(\.field)
        let idName = Self.idName(fields)
        let reserved = own.id == nil ? [] : [idName]
        let names = Array(SwiftName.distinct(reserved + fields.map(SwiftName.property)).dropFirst(reserved.count))
        var lines = own.summary.isEmpty ? [] : ["\(indent)/// \(own.summary)"]
        lines.append("\(indent)\(access)struct \(own.name): Codable, Sendable, Hashable {")
        if let id = own.id { lines.append("\(indent)    @DocumentID \(access)var \(idName): \(id)") }
        for (member, name) in zip(own.members, names) {
            if let remark = member.remark { lines.append("\(indent)    /// \(remark)") }
            lines.append("\(indent)    \(access)var \(SwiftName.quoted(name)): \(shown(member))")
        }
        if isPublic { lines += ["", initializer(own, names, indent: indent + "    ")] }
        if names != fields { lines += ["", codingKeys(own, names, indent: indent + "    ")] }
        for text in nested { lines += ["", text] }
        return (lines + ["\(indent)}"]).joined(separator: "\n")
    }

    /// What the property for the document's name is called: no field has this name.
    private static func idName(_ fields: [String]) -> String {
        ["id", "documentID", "documentName"].first { !fields.contains($0) } ?? "nameOfDocument"
    }

    private func shown(_ member: SwiftStruct.Member) -> String { shown(member.type) + (member.isOptional ? "?" : "") }

    private func shown(_ type: SwiftType) -> String {
        switch type {
        case .named(let name), .enumeration(let name, _): name
        case .array(let element, let hasNulls): "[\(shown(element))\(hasNulls ? "?" : "")]"
        case .dictionary(let value): "[String: \(shown(value))]"
        case .nested(let type): type.name
        }
    }

    private func initializer(_ type: SwiftStruct, _ names: [String], indent: String) -> String {
        let idName = Self.idName(type.members.map(\.field))
        let id = type.id.map { ["\(idName): DocumentID<\($0)> = DocumentID()"] } ?? []
        let parameters = zip(type.members, names).map { member, name in
            "\(SwiftName.quoted(name)): \(shown(member))\(member.isOptional ? " = nil" : "")"
        }
        let sets =
            (type.id == nil ? [] : ["_\(idName) = \(idName)"]) + names.map { "self.\($0) = \(SwiftName.quoted($0))" }
        return """
            \(indent)public init(\((id + parameters).joined(separator: ", "))) {
            \(sets.map { "\(indent)    \($0)" }.joined(separator: "\n"))
            \(indent)}
            """
    }

    private func codingKeys(_ type: SwiftStruct, _ names: [String], indent: String) -> String {
        let id = type.id == nil ? [] : ["case \(Self.idName(type.members.map(\.field)))"]
        let cases = zip(type.members, names).map { member, name in
            name == member.field
                ? "case \(SwiftName.quoted(name))"
                : "case \(SwiftName.quoted(name)) = \(literal(member.field))"
        }
        return
            ([indent + "private enum CodingKeys: String, CodingKey {"]
            + (id + cases).map { "\(indent)    \($0)" } + ["\(indent)}"]).joined(separator: "\n")
    }

    private func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    // MARK: Types in types

    /// Writes the types of members, and gives those with the same name different ones.
    private func lift(_ type: inout SwiftStruct, _ texts: inout [String], indent: String) {
        var taken = Set([type.name])
        for index in type.members.indices {
            type.members[index].type = lift(type.members[index].type, &texts, &taken, indent)
        }
    }

    private func lift(
        _ type: SwiftType, _ texts: inout [String], _ taken: inout Set<String>, _ indent: String
    ) -> SwiftType {
        func fresh(_ name: String) -> String {
            var (candidate, number) = (Self.known.contains(name) ? name + "Value" : name, 2)
            while !taken.insert(candidate).inserted { (candidate, number) = ("\(name)\(number)", number + 1) }
            return candidate
        }
        switch type {
        case .named: return type
        case .array(let element, let hasNulls):
            return .array(lift(element, &texts, &taken, indent), hasNulls: hasNulls)
        case .dictionary(let value): return .dictionary(lift(value, &texts, &taken, indent))
        case .nested(var inner):
            inner.name = fresh(inner.name)
            texts.append(text(of: inner, indent: indent))
            return .named(inner.name)
        case .enumeration(let name, let values):
            let name = fresh(name)
            texts.append(enumeration(name, values, indent))
            return .named(name)
        }
    }

    /// Names that mean something else in the file.
    private static let known: Set<String> = [
        "String", "Int", "Int64", "Bool", "Double", "Decimal", "Data", "Date", "UUID", "Timestamp", "GeoPoint",
        "StoragePath",
        "DocumentReference", "DocumentValue", "DocumentID", "CodingKeys", "Codable", "Sendable", "Hashable", "Type",
    ]

    private func enumeration(_ name: String, _ values: [String], _ indent: String) -> String {
        let names = SwiftName.distinct(values.map { $0.isEmpty ? "empty" : SwiftName.property($0) })
        let cases = zip(values, names).map { value, name in
            let quoted = SwiftName.quoted(name)
            return value == name ? "\(indent)    case \(quoted)" : "\(indent)    case \(quoted) = \(literal(value))"
        }
        return ["\(indent)\(access)enum \(name): String, Codable, Sendable, Hashable, CaseIterable {"]
            .joined() + "\n" + cases.joined(separator: "\n") + "\n\(indent)}"
    }
}
