/// Ordered header fields with case-insensitive names.
///
/// Nothing is validated here; a request with a CR, LF, NUL or malformed name is refused as a whole before anything is sent
/// (`HTTPRequest.validate()`).
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var fields: [Field]

    package init() {
        fields = []
    }

    package init(_ fields: [Field]) {
        self.fields = fields
    }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first value of `name`. Setting replaces every field of that name; setting `nil` removes them.
    package subscript(name: String) -> String? {
        get {
            for field in fields where field.name.isSameHeaderName(as: name) { return field.value }
            return nil
        }
        set {
            guard let newValue else { return remove(name) }
            if let index = fields.firstIndex(where: { $0.name.isSameHeaderName(as: name) }) {
                let tail = fields[(index + 1)...].filter { !$0.name.isSameHeaderName(as: name) }
                fields.removeSubrange((index + 1)...)
                fields += tail
                fields[index].value = newValue
            } else {
                fields.append(Field(name: name, value: newValue))
            }
        }
    }

    /// All values of `name`, in order (`Set-Cookie` can be repeated).
    package func values(for name: String) -> [String] {
        fields.filter { $0.name.isSameHeaderName(as: name) }.map(\.value)
    }

    package func contains(_ name: String) -> Bool {
        fields.contains { $0.name.isSameHeaderName(as: name) }
    }

    /// Appends a field, leaving others of the same name in place.
    package mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    package mutating func remove(_ name: String) {
        fields.removeAll { $0.name.isSameHeaderName(as: name) }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    package var startIndex: Int { fields.startIndex }
    package var endIndex: Int { fields.endIndex }
    package subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: Equatable {
    /// Equal names (without case) and values, in the same order.
    package static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        left.elementsEqual(right) { $0.name.isSameHeaderName(as: $1.name) && $0.value == $1.value }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
    /// Shows only names, except for the few fields whose values never contain a secret.
    package var description: String {
        let shown = fields.map { field in
            Self.harmless.contains { field.name.isSameHeaderName(as: $0) }
                ? "\(field.name): \(field.value)" : field.name
        }
        return "[\(shown.joined(separator: ", "))]"
    }

    package var customMirror: Mirror { Mirror(self, children: [:]) }

    private static let harmless = [
        "Accept", "Accept-Encoding", "Content-Type", "Content-Length", "Content-Encoding", "Retry-After", "Range",
        "Content-Range", "Transfer-Encoding", "Connection",
    ]
}

extension String {
    /// Case-insensitive equality of ASCII names.
    func isSameHeaderName(as other: String) -> Bool {
        let left = utf8
        let right = other.utf8
        guard left.count == right.count else { return false }
        return zip(left, right).allSatisfy { a, b in
            a == b || (a ^ b == 0x20 && (a | 0x20) >= UInt8(ascii: "a") && (a | 0x20) <= UInt8(ascii: "z"))
        }
    }
}
