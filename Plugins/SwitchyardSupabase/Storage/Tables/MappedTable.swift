import Switchyard
import SwitchyardBytes
import SwitchyardSync

/// A validated table mapping, prepared for lookups. Every call passes it on, so it is an object.
final class MappedTable: Hashable, Sendable {
    /// A segment of the collection's path.
    private enum Segment: Hashable, Sendable {
        case name(String)
        case column(String)
    }

    let mapping: SupabaseTableMapping
    private let segments: [Segment]
    /// The description that the database's functions expect.
    let json: JSON
    /// Differs from that of other mappings.
    let fingerprint: String
    /// The last segment, which identifies a group of collections.
    let id: String
    /// The columns with the names of parents, outermost first.
    let parentColumns: [String]
    /// All columns that the mapping names, each once.
    let columns: Set<String>
    /// What the paths of a table at the root begin with; `nil` for one below documents.
    let rootPrefix: String?
    /// What a row's tag begins with.
    let tagPrefix: String

    init(_ mapping: SupabaseTableMapping) throws(InfrastructureError) {
        func mistake(_ what: String) -> InfrastructureError {
            InfrastructureError(
                .invalidConfiguration, "The mapping of the table “\(mapping.table)” to “\(mapping.collection)” \(what)."
            )
        }
        var segments: [Segment] = []
        for (index, part) in mapping.collection.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
            let isColumn = part.hasPrefix("{") && part.hasSuffix("}")
            guard isColumn == (index % 2 == 1), part.count > (isColumn ? 2 : 0) else {
                throw mistake("must have names and columns in braces in turn")
            }
            segments.append(isColumn ? .column(String(part.dropFirst().dropLast())) : .name(String(part)))
        }
        guard segments.count % 2 == 1 else { throw mistake("must end with a name") }
        guard !mapping.fields.isEmpty else { throw mistake("names no field") }
        guard ![mapping.schema, mapping.table, mapping.idColumn].contains("") else {
            throw mistake("leaves a name empty")
        }
        let parents = segments.compactMap { if case .column(let column) = $0 { column } else { nil } }
        let contents = Set(parents + [mapping.idColumn] + mapping.fields.values)
        if let stranger = mapping.uuidColumns.subtracting(contents).min() {
            throw mistake("lists “\(stranger)” among the UUIDs, which is the column of no ID, parent or field")
        }
        if let witness = mapping.witnessColumn {
            guard mapping.generatesIDs else { throw mistake("has a witness, but its IDs are made by clients") }
            guard !contents.contains(witness) else {
                throw mistake("uses the witness “\(witness)” for a field or the ID, too")
            }
        }
        for (field, collection) in mapping.references.sorted(by: { $0.key < $1.key }) {
            guard mapping.fields[field] != nil else {
                throw mistake("lists “\(field)” among the references, which is none of its fields")
            }
            guard !collection.utf8.contains(UInt8(ascii: "{")), (try? CollectionPath(validating: collection)) != nil
            else {
                throw mistake("has a reference “\(field)” to “\(collection)”, which is the path of no collection")
            }
        }
        var mapping = mapping
        mapping.uuidColumns.formUnion(contents.filter { mapping.columnTypes[$0]?.isOfUUIDs == true })
        self.mapping = mapping
        self.segments = segments
        json = MappedTable.description(of: mapping, segments)
        let types =
            mapping.columnTypes.map { "\($0.key) \($0.value.rawValue)" }.sorted()
            + mapping.uuidColumns.sorted() + mapping.references.map { "\($0.key)>\($0.value)" }.sorted()
        let fingerprint = Hex.encode(MD5.digest(of: (json.text() + types.joined(separator: ",")).utf8).prefix(4))
        self.fingerprint = fingerprint
        tagPrefix = fingerprint + "."
        parentColumns = parents
        columns = contents.union(
            [mapping.createdColumn, mapping.updatedColumn, mapping.witnessColumn].compactMap(\.self))
        id = if case .name(let name)? = segments.last { name } else { "" }
        rootPrefix = segments.count == 1 ? id + "/" : nil
    }

    static func == (left: MappedTable, right: MappedTable) -> Bool { left === right || left.mapping == right.mapping }
    func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    private static func description(of mapping: SupabaseTableMapping, _ segments: [Segment]) -> JSON {
        var texts = [""]
        var parents: [JSON] = []
        for segment in segments {
            switch segment {
            case .name(let name): texts[texts.count - 1] += "\(name)/"
            case .column(let column):
                parents.append(.string(column))
                texts.append("/")
            }
        }
        var object: JSONObject = [
            "schema": .string(mapping.schema), "name": .string(mapping.table), "id": .string(mapping.idColumn),
            "parents": .array(parents), "path": .array(texts.map { .string($0) }),
            "fields": .array(
                mapping.fields.sorted { $0.key < $1.key }.map { [.string($0.key), .string($0.value)] }),
        ]
        if let created = mapping.createdColumn { object["created"] = .string(created) }
        if let updated = mapping.updatedColumn { object["updated"] = .string(updated) }
        return .object(object)
    }

    /// The document of a table at the root; `nil` if that is no name.
    func path(named name: String, behind rootPrefix: String) -> StoragePath? {
        // A slash in a name would make another path of it.
        guard !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return try? StoragePath(validating: rootPrefix + name)
    }

    /// The document with these names of its parents and its own; `nil` if one is missing or is no name.
    func path(named names: [String?]) -> StoragePath? {
        if let rootPrefix, let name = names.first ?? nil { return path(named: name, behind: rootPrefix) }
        var rest = names[...]
        var parts: [String] = []
        for segment in segments {
            switch segment {
            case .name(let name): parts.append(name)
            case .column: parts.append((rest.popFirst() ?? nil) ?? "")
            }
        }
        parts.append((rest.popFirst() ?? nil) ?? "")
        // A slash in a name would make another path of it.
        guard rest.isEmpty, parts.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "/")) }) else { return nil }
        return try? StoragePath(validating: parts.joined(separator: "/"))
    }

    /// What holds of the parents of all documents below one; `nil` if none of this table's are there.
    func parents(below ancestor: StoragePath) -> [(column: String, name: String)]? {
        let parts = ancestor.segments
        guard parts.count < segments.count else { return nil }
        var values: [(column: String, name: String)] = []
        for (part, segment) in zip(parts, segments) {
            switch segment {
            case .name(let name): if !part.utf8Equals(name) { return nil }
            case .column(let column): values.append((column, part))
            }
        }
        return values
    }

    /// A row's version as it is kept on the device: under another mapping, the same row is another document.
    func tag(_ version: String) -> DocumentTag { DocumentTag(rawValue: tagPrefix + version) }

    /// The version in a tag; `nil` for one of another mapping.
    func version(in tag: DocumentTag) -> String? {
        tag.rawValue.hasPrefix(tagPrefix) ? String(tag.rawValue.dropFirst(fingerprint.count + 1)) : nil
    }

    var topic: HintTopic { .rows(of: mapping.table, in: mapping.schema) }

    /// The values of the parents' columns, if the collection belongs to this table.
    func parents(of collection: CollectionPath) -> [String]? {
        if segments.count == 1 { return collection.rawValue.utf8Equals(id) ? [] : nil }
        let parts = collection.segments
        guard parts.count == segments.count else { return nil }
        var values: [String] = []
        for (part, segment) in zip(parts, segments) {
            switch segment {
            case .name(let name): if !part.utf8Equals(name) { return nil }
            case .column: values.append(part)
            }
        }
        return values
    }

    /// A collection of this table in the database's spelling.
    func canonical(_ collection: CollectionPath) -> CollectionPath {
        let parts = zip(collection.segments, segments).map { part, segment in
            if case .column(let column) = segment { mapping.canonical(part, in: column) } else { part }
        }
        return CollectionPath(unchecked: parts.joined(separator: "/"))
    }

    /// Whether collections of this table are below the document, either directly or at any depth.
    func isBelow(_ document: StoragePath?, directly: Bool) -> Bool {
        let parts = document?.segments ?? []
        guard parts.count < segments.count, !directly || parts.count == segments.count - 1 else { return false }
        return zip(parts, segments).allSatisfy { part, segment in
            if case .name(let name) = segment { part.utf8Equals(name) } else { true }
        }
    }
}

extension SupabaseColumnType {
    fileprivate var isOfUUIDs: Bool {
        switch ColumnKind(self) {
        case .uuid, .array(.uuid): true
        default: false
        }
    }
}
