import SwitchyardBytes

/// Finds the field of a key path: the one with the property's coding key, however the type is coded.
///
/// Swift does not expose the coding key of a property. So the type is decoded from made-up values, once as is and once with
/// one field changed: the property's field is the one whose value it has both times. That takes some microseconds and works
/// in every build, since it needs neither names nor metadata.
///
/// It works for stored properties of structs, also of nested ones (`\.address.city`), and for ``DocumentID`` and
/// ``ServerTimestamp``; not for computed properties, behind an optional (`\.address?.city`), or in a type that cannot be
/// decoded from made-up values, such as one that validates a string. Then the error says so; use ``FieldNaming``, or the
/// field's name as text, instead.
enum FieldLookup {
    static func field<Value: Decodable>(
        of property: PartialKeyPath<Value>, by coder: DocumentCoder
    ) throws(StorageError) -> FieldPath {
        if let naming = Value.self as? any FieldNaming.Type, let field = named(by: naming, property) { return field }
        guard let plain = Sample<Value>(changing: nil) else {
            throw refusal(property, "\(Value.self) cannot be decoded from made-up values to find its fields")
        }
        guard let found = plain.value(at: property, by: coder) else {
            throw refusal(property, "what it gives cannot be a field's value")
        }
        guard plain.isStored(property, by: coder, as: found) else {
            throw refusal(
                property,
                "only stored properties are fields, and nothing behind an optional one; name the field by its path, as in "
                    + "“address.city”"
            )
        }
        var fields: [[String]: FieldPath] = [:]
        for node in plain.nodes where fields[node.path] == nil && coder.comparable(node.value) == found {
            guard let changed = Sample<Value>(changing: node.path),
                let other = changed.nodes.first(where: { $0.path == node.path }),
                let value = changed.value(at: property, by: coder), value != found,
                coder.comparable(other.value) == value
            else { continue }
            fields[node.path] = node.isDocumentID ? .documentID : coder.field(for: node.path)
        }
        guard let field = fields.first?.value else { throw refusal(property, "no coding key stands for it") }
        guard fields.count == 1 else { throw refusal(property, "several coding keys could stand for it") }
        return field
    }

    /// The field according to the type's own ``FieldNaming``.
    static func field<Value>(namedFor property: PartialKeyPath<Value>) throws(StorageError) -> FieldPath {
        if let naming = Value.self as? any FieldNaming.Type, let field = named(by: naming, property) { return field }
        throw refusal(property, "\(Value.self) is not Codable")
    }

    private static func named<Naming: FieldNaming>(by type: Naming.Type, _ property: AnyKeyPath) -> FieldPath? {
        (property as? PartialKeyPath<Naming>).flatMap { Naming.field(of: $0) }
    }

    private static func refusal(_ property: AnyKeyPath, _ reason: String) -> StorageError {
        .invalid(
            "\(name(of: property)) is not a field: \(reason). Name the field as text, or make the type FieldNaming.")
    }

    /// Swift describes computed properties by their address.
    private static func name(of property: AnyKeyPath) -> String {
        let description = "\(property)"
        guard description.includes("<computed") else { return "“\(description)”" }
        return "This computed property of “\(type(of: property).rootType)”"
    }

    /// A value decoded from made-up ones, and those made-up values.
    private struct Sample<Value: Decodable> {
        let value: Value
        let nodes: [FieldProbe.Node]

        init?(changing path: [String]?) {
            let record = FieldProbe.Record(changed: path)
            guard let value = try? Value(from: FieldProbe(record)) else { return nil }
            self.value = value
            nodes = record.nodes
        }

        func value(at property: PartialKeyPath<Value>, by coder: DocumentCoder) -> DocumentValue? {
            coder.comparable(value[keyPath: property])
        }

        /// Whether `property` is stored, or belongs to one of this package's wrappers.
        func isStored(_ property: PartialKeyPath<Value>, by coder: DocumentCoder, as found: DocumentValue) -> Bool {
            if MemoryLayout<Value>.offset(of: property) != nil { return true }
            return Mirror(reflecting: value).children.contains { child in
                (child.value as? any WrappedField)?.wrappedField.flatMap { coder.comparable($0) } == found
            }
        }
    }
}

/// A property wrapper whose property is a field.
protocol WrappedField {
    var wrappedField: Any? { get }
}

extension DocumentID: WrappedField { var wrappedField: Any? { wrappedValue } }
extension ServerTimestamp: WrappedField { var wrappedField: Any? { wrappedValue } }

extension DocumentCoder {
    /// `value` as a field's value; `nil` if no field can hold it.
    fileprivate func comparable(_ value: Any) -> DocumentValue? {
        guard let value = value as? any Encodable else { return nil }
        return try? self.value(of: value)
    }

    fileprivate func field(for path: [String]) -> FieldPath {
        var names = KeyNames(keys)
        return FieldPath(unchecked: path.map { names.fieldName(for: $0) })
    }
}
