import Foundation
package import Switchyard

/// A database, with the conversion between resource names and paths.
///
/// Coding values requires a database, since references contain full names. References within this database become plain paths;
/// those to another one keep its name as their origin.
package struct FirestoreDatabase: Sendable, Hashable {
    package let project: String
    package let database: String
    /// `projects/P/databases/D`
    package let name: String
    /// `projects/P/databases/D/documents`, the parent of all top-level collections.
    package let root: String

    package init(project: String, database: String = "(default)") {
        self.project = project
        self.database = database
        name = "projects/\(project)/databases/\(database)"
        root = name + "/documents"
    }

    package func resourceName(of path: StoragePath) -> String { "\(root)/\(path.rawValue)" }

    /// The parent of a query: the document that contains its collections, or the root.
    package func resourceName(ofParent path: StoragePath?) -> String { path.map(resourceName) ?? root }

    /// The path for a document's resource name.
    ///
    /// - Throws: Also for a name in another database, since it is never a document here.
    package func path(ofName name: String) throws(FirestoreFormatError) -> StoragePath {
        guard let rest = suffix(of: name) else { throw FirestoreFormatError("a document's name in another database") }
        return try FirestoreDatabase.documentPath(rest)
    }

    /// The parent of a query, `nil` for the root.
    package func parent(ofName name: String) throws(FirestoreFormatError) -> StoragePath? {
        name.utf8Equals(root) ? nil : try path(ofName: name)
    }

    package func resourceName(of reference: DocumentReference) -> String {
        guard let origin = reference.origin else { return resourceName(of: reference.path) }
        return "\(origin)/documents/\(reference.path.rawValue)"
    }

    /// A reference value, either within this database or with another one's name.
    package func reference(ofName name: String) throws(FirestoreFormatError) -> DocumentReference {
        if let rest = suffix(of: name) { return DocumentReference(try FirestoreDatabase.documentPath(rest)) }
        let segments = name.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
        guard segments.count == 6, segments[0] == "projects", segments[2] == "databases", segments[4] == "documents",
            !segments[1].isEmpty, !segments[3].isEmpty
        else { throw FirestoreFormatError("a reference that is not a full document name") }
        return DocumentReference(
            try FirestoreDatabase.documentPath(String(segments[5])),
            origin: "projects/\(segments[1])/databases/\(segments[3])")
    }

    /// The part after the root and a slash; `nil` for other names. Compares bytes, since it runs for every document.
    private func suffix(of name: String) -> String? {
        var name = name
        var root = root
        return name.withUTF8 { name in
            root.withUTF8 { root in
                guard name.count > root.count + 1, memcmp(name.baseAddress!, root.baseAddress!, root.count) == 0,
                    name[root.count] == UInt8(ascii: "/")
                else { return nil }
                return String(decoding: UnsafeBufferPointer(rebasing: name[(root.count + 1)...]), as: UTF8.self)
            }
        }
    }

    /// Servers send valid names, so this checks only what the rest of the program relies on.
    private static func documentPath(_ text: String) throws(FirestoreFormatError) -> StoragePath {
        var slashes = 0
        var previous = UInt8(ascii: "/")
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/") {
                if previous == byte { throw FirestoreFormatError("a document name with an empty segment") }
                slashes += 1
            }
            previous = byte
        }
        guard slashes % 2 == 1, previous != UInt8(ascii: "/") else {
            throw FirestoreFormatError("a document name that leads to a collection")
        }
        return StoragePath(unchecked: text)
    }
}
