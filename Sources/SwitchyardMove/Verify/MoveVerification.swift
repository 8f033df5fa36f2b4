/// The outcome of comparing both ends of a move.
public struct MoveVerification: Sendable, Hashable, Codable {
    /// A collection on both ends: the number of documents, and the sum of their hashes.
    public struct Collection: Sendable, Hashable, Codable {
        public var name: String
        public var sourceCount: Int
        public var targetCount: Int
        /// 32 hexadecimal digits.
        public var sourceHash: String
        public var targetHash: String

        public var isEqual: Bool { sourceCount == targetCount && sourceHash == targetHash }
    }

    public struct Difference: Sendable, Hashable, Codable {
        public enum Kind: String, Sendable, Hashable, Codable {
            /// The target lacks it.
            case missing
            /// Only the target has it.
            case extra
            case changed
        }

        public var part: MovePart
        public var kind: Kind
        /// The path of a document or a file, or the ID of an account, on the target.
        public var subject: String
        /// The fields that differ, of what is on both ends.
        public var fields: [String] = []
        public var isRepaired = false
    }

    public internal(set) var collections: [Collection] = []
    /// How many accounts and files the source has.
    public internal(set) var accounts = 0
    public internal(set) var files = 0
    public internal(set) var differences: [Difference] = []

    /// Whether both ends have the same, as far as the target can hold it.
    public var isEqual: Bool { differences.isEmpty && collections.allSatisfy(\.isEqual) }
    /// Whether they have the same now: each difference is repaired.
    public var isRepaired: Bool { differences.allSatisfy(\.isRepaired) }
}

extension MoveVerification: CustomStringConvertible {
    public var description: String {
        var lines = collections.map { one in
            one.isEqual
                ? "  \(one.name): \(Shown.count(one.sourceCount, "document")), \(one.sourceHash), equal"
                : "  \(one.name): \(one.sourceCount) and \(Shown.count(one.targetCount, "document")), "
                    + "\(one.sourceHash) and \(one.targetHash), different"
        }
        lines.append("  \(Shown.count(accounts, "account")) and \(Shown.count(files, "file")) compared")
        guard !differences.isEmpty else { return (["Both ends are equal."] + lines).joined(separator: "\n") }
        lines.insert("\(Shown.count(differences.count, "difference")):", at: 0)
        lines += differences.prefix(100).map { "  \($0)" }
        if differences.count > 100 { lines.append("  and \(differences.count - 100) more; --json prints all") }
        return lines.joined(separator: "\n")
    }
}

extension MoveVerification.Difference: CustomStringConvertible {
    public var description: String {
        let fields = fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))"
        return "\(kind.rawValue): \(subject)\(fields)\(isRepaired ? ", repaired" : "")"
    }
}
