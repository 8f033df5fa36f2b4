/// Formatting options for JSON.
package struct JSONWritingOptions: Hashable, Sendable {
    /// Whether members are sorted by the bytes of their keys, so that equal values give equal texts.
    package var sortsKeys: Bool
    /// Whether to add line breaks and indent each level by two spaces.
    package var isPretty: Bool

    package init(sortsKeys: Bool = false, isPretty: Bool = false) {
        self.sortsKeys = sortsKeys
        self.isPretty = isPretty
    }
}

extension JSON {
    /// The text as UTF-8 bytes. A number that is not finite is written as `null`, since JSON cannot represent it.
    package func bytes(_ options: JSONWritingOptions = .init()) -> [UInt8] {
        var output: [UInt8] = []
        write(to: &output, options)
        return output
    }

    package func text(_ options: JSONWritingOptions = .init()) -> String {
        String(decoding: bytes(options), as: UTF8.self)
    }

    /// Appends the text. Stack usage is proportional to the depth of the value.
    package func write(to output: inout [UInt8], _ options: JSONWritingOptions = .init()) {
        if options == JSONWritingOptions() {
            writeCompact(to: &output)
        } else {
            write(to: &output, options, level: 0)
        }
    }

    private func writeCompact(to output: inout [UInt8]) {
        switch self {
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for index in elements.indices {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                elements[index].writeCompact(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            for index in object.members.indices {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONText.append(object.members[index].key, to: &output)
                output.append(UInt8(ascii: ":"))
                object.members[index].value.writeCompact(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        default:
            writeLeaf(to: &output)
        }
    }

    @inline(__always)
    private func writeLeaf(to output: inout [UInt8]) {
        switch self {
        case .string(let text): JSONText.append(text, to: &output)
        case .integer(let value): JSONText.append(value, to: &output)
        case .number(let value): JSONText.append(value, to: &output)
        case .bool(let value): JSONText.append(literal: value ? "true" : "false", to: &output)
        case .null, .array, .object: JSONText.append(literal: "null", to: &output)
        }
    }

    private func write(to output: inout [UInt8], _ options: JSONWritingOptions, level: Int) {
        switch self {
        case .array(let elements):
            JSONLayout.list("[", "]", elements, to: &output, options, level) { element, output in
                element.write(to: &output, options, level: level + 1)
            }
        case .object(let object):
            let members =
                options.sortsKeys
                ? object.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                : object.members
            JSONLayout.list("{", "}", members, to: &output, options, level) { member, output in
                JSONText.append(member.key, to: &output)
                JSONText.append(literal: options.isPretty ? ": " : ":", to: &output)
                member.value.write(to: &output, options, level: level + 1)
            }
        default:
            writeLeaf(to: &output)
        }
    }
}

private enum JSONLayout {
    static func list<Item>(
        _ open: StaticString, _ close: StaticString, _ items: [Item], to output: inout [UInt8],
        _ options: JSONWritingOptions, _ level: Int, _ write: (Item, inout [UInt8]) -> Void
    ) {
        JSONText.append(literal: open, to: &output)
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            if options.isPretty { newLine(level + 1, &output) }
            write(item, &output)
        }
        if options.isPretty, !items.isEmpty { newLine(level, &output) }
        JSONText.append(literal: close, to: &output)
    }

    private static func newLine(_ level: Int, _ output: inout [UInt8]) {
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: level * 2))
    }
}
