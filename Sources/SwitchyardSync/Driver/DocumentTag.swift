import Switchyard
import SwitchyardBytes

/// A document's version on a backend whose versions have no order, such as an entity tag or a row's transaction number.
///
/// Two tags of one document say whether its contents are the same, and nothing else. The text is the driver's, and not
/// empty; the engine stores it and compares its bytes.
public struct DocumentTag: Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static func == (left: DocumentTag, right: DocumentTag) -> Bool { left.rawValue.utf8Equals(right.rawValue) }

    public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

/// The tags of a list of documents, made when they are asked for: of documents that are known, they are not.
package struct DocumentTagList: Sendable {
    private let prefix: String
    private let versions: [String]

    /// - Parameter prefix: What all tags begin with.
    package init(prefix: String, _ versions: [String]) { (self.prefix, self.versions) = (prefix, versions) }

    package var count: Int { versions.count }
    package subscript(index: Int) -> DocumentTag { DocumentTag(rawValue: prefix + versions[index]) }
}
