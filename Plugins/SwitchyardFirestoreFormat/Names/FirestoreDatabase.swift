import Foundation
package import Switchyard

/// Which database a resource name belongs to, and the way from names to paths and back.
///
/// All coding of values takes one, since references travel as whole names: those into this database become plain paths,
/// those into another one keep its name as their origin.
package struct FirestoreDatabase: Sendable, Hashable {
    package let project: String
    package let database: String
    /// `projects/P/databases/D`
    package let name: String
    /// `projects/P/databases/D/documents`, the parent of all collections at the top.
    package let root: String

    package init(project: String, database: String = "(default)") {
        self.project = project
        self.database = database
        name = "projects/\(project)/databases/\(database)"
        root = name + "/documents"
    }

    package func resourceName(of path: StoragePath) -> String { "\(root)/\(path.rawValue)" }

    /// The parent of a query: the document that holds the collections it looks at, or the root.
    package func resourceName(ofParent path: StoragePath?) -> String { path.map(resourceName) ?? root }

    /// The path behind a document's resource name.
    ///
    /// - Throws: also for a name in another database, since no document of one can be meant.
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

    /// A reference value: into this database, or into another one, whose name it keeps.
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

    /// What follows the root and a slash; `nil` for a name elsewhere. On the way of every document, hence by bytes.
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

    /// Servers send no illegal names; checked is only what the rest of the program relies on.
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
