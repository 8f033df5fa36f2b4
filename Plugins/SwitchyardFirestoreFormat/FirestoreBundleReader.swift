package import Switchyard
import SwitchyardBytes

/// Reads a bundle from chunks of any size: elements of the form `<length in bytes><JSON>`, the metadata first.
///
/// ```swift
/// var reader = FirestoreBundleReader(database)
/// for try await chunk in body { try reader.append(chunk) }
/// let bundle = try reader.finish()
/// ```
package struct FirestoreBundleReader: Sendable {
    /// Larger than any element: a document has at most 1 MiB, which can be several times that in JSON.
    package static let maximumElementBytes = 64 << 20

    private let database: FirestoreDatabase
    private var buffer: [UInt8] = []
    /// The position in the buffer up to which everything has been read.
    private var position = 0
    /// The bundle so far; `nil` until the first element is complete.
    private var bundle: DocumentBundle?
    /// The metadata of the next document.
    private var announced: Announcement?

    private struct Announcement {
        let path: StoragePath
        let readTime: Timestamp
        let queries: [String]
    }

    package init(_ database: FirestoreDatabase) { self.database = database }

    /// The number of documents read so far, for progress.
    package var documentCount: Int { bundle?.documents.count ?? 0 }
    /// The number of documents according to the bundle, and of bytes after its metadata; `nil` until the metadata is complete.
    package private(set) var totals: (documents: Int, bytes: Int)?

    /// Reads a whole bundle.
    package static func bundle(
        _ bytes: some Collection<UInt8>, in database: FirestoreDatabase
    ) throws(FirestoreFormatError) -> DocumentBundle {
        var reader = FirestoreBundleReader(database)
        try reader.append(bytes)
        return try reader.finish()
    }

    package mutating func append(_ bytes: some Collection<UInt8>) throws(FirestoreFormatError) {
        buffer.append(contentsOf: bytes)
        while let element = try nextElement() { try take(element) }
        if position > 0 {
            buffer.removeFirst(position)
            position = 0
        }
    }

    /// - Throws: If anything announced is missing.
    package consuming func finish() throws(FirestoreFormatError) -> DocumentBundle {
        guard position == buffer.count, announced == nil else { throw FirestoreFormatError("a bundle that ends early") }
        guard let bundle else { throw FirestoreFormatError("a bundle without metadata") }
        return bundle
    }

    /// The next complete element, or `nil` until more bytes arrive.
    private mutating func nextElement() throws(FirestoreFormatError) -> JSON? {
        var length = 0
        var index = position
        while index < buffer.count, case let digit = buffer[index] &- UInt8(ascii: "0"), digit < 10 {
            length = length * 10 + Int(digit)
            guard length <= FirestoreBundleReader.maximumElementBytes else {
                throw FirestoreFormatError("a bundle with an element of excessive length")
            }
            index += 1
        }
        guard index < buffer.count else { return nil }
        guard index > position, buffer[index] == UInt8(ascii: "{") else {
            throw FirestoreFormatError("a bundle with an element that has no length")
        }
        guard buffer.count - index >= length else { return nil }
        position = index + length
        do throws(JSONError) {
            return try JSON(parsing: buffer[index..<position])
        } catch {
            throw FirestoreFormatError("a bundle with an element that is not JSON")
        }
    }

    private mutating func take(_ json: JSON) throws(FirestoreFormatError) {
        let element = try json.members(of: "an element of a bundle")
        guard let member = element.members.first, element.members.count == 1 else {
            throw FirestoreFormatError("an element of a bundle without exactly one kind")
        }
        guard (bundle == nil) == (member.key == "metadata") else {
            throw FirestoreFormatError("a bundle whose metadata is not its first element, or not its only one")
        }
        guard (announced != nil) == (member.key == "document") else {
            throw FirestoreFormatError("a bundle whose documents do not follow their metadata")
        }
        switch member.key {
        case "metadata": try takeMetadata(try member.value.members(of: "the metadata of a bundle"))
        case "namedQuery":
            bundle?.namedQueries.append(try DocumentBundle.NamedQuery(firestore: member.value, in: database))
        case "documentMetadata": try takeAnnouncement(try member.value.members(of: "the metadata of a document"))
        case "document": try takeDocument(member.value)
        default: throw FirestoreFormatError("an element of a bundle of an unknown kind")
        }
    }

    private mutating func takeMetadata(_ object: JSONObject) throws(FirestoreFormatError) {
        guard let createTime = try object.timestamp("createTime") else {
            throw FirestoreFormatError("a bundle without a create time")
        }
        let version = try object.integer("version") ?? 0
        guard version == 1 else { throw FirestoreFormatError("a bundle of an unknown version") }
        bundle = DocumentBundle(id: try object.requiredString("id"), version: version, createTime: createTime)
        totals = (try object.integer("totalDocuments") ?? 0, try object.integer("totalBytes") ?? 0)
    }

    private mutating func takeAnnouncement(_ object: JSONObject) throws(FirestoreFormatError) {
        let path = try database.path(ofName: try object.requiredString("name"))
        guard let readTime = try object.timestamp("readTime") else {
            throw FirestoreFormatError("a bundled document without a read time")
        }
        let queries = try object.array("queries").compactMap(\.string)
        if try object.bool("exists") ?? false {
            announced = Announcement(path: path, readTime: readTime, queries: queries)
        } else {
            bundle?.documents.append(
                DocumentBundle.Document(snapshot: .missing(path), readTime: readTime, queries: queries))
        }
    }

    private mutating func takeDocument(_ json: JSON) throws(FirestoreFormatError) {
        let document = try DocumentSnapshot(firestore: json, in: database)
        guard let announced, announced.path == document.path else {
            throw FirestoreFormatError("a bundled document that is not the one announced")
        }
        bundle?.documents.append(
            DocumentBundle.Document(snapshot: document, readTime: announced.readTime, queries: announced.queries))
        self.announced = nil
    }
}

extension DocumentBundle.NamedQuery {
    fileprivate init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a named query")
        guard let bundled = try object.object("bundledQuery"), let structured = bundled.nonNull("structuredQuery"),
            let readTime = try object.timestamp("readTime")
        else { throw FirestoreFormatError("a named query that lacks a part") }
        var query = try Query(firestore: structured, parent: try bundled.requiredString("parent"), in: database)
        // The query is stored as the app wrote it; only the kind of limit is stored separately.
        switch (try bundled.string("limitType"), query.limit) {
        case (nil, _), ("FIRST", _): break
        case ("LAST", let limit?): query.limit = .last(limit.count)
        default: throw FirestoreFormatError("a named query with an impossible limit")
        }
        self.init(name: try object.requiredString("name"), query: query, readTime: readTime)
    }
}
