import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// The documents of an archive: `documents/COLLECTION/PAGE.jsonl`.
struct ArchiveDocuments: MoveDocuments {
    private let folder: URL
    /// By collection.
    private let indexes = Indexes()
    let limits = ValueLimits()
    let requirements: [String] = []

    init(folder: URL) { self.folder = folder }

    private final class Indexes: Sendable {
        let made = Mutex<[String: LineIndex]>([:])
    }

    private struct Key: Decodable { let path: String }

    private func index(_ collection: String) -> LineIndex {
        indexes.made.withLock { indexes in
            if let index = indexes[collection] { return index }
            let index = LineIndex(lines(collection)) { line in
                let key: Key = try JSONBytesDecoder().decode(from: line)
                return key.path
            }
            indexes[collection] = index
            return index
        }
    }

    private func lines(_ collection: String) -> LineFolder {
        LineFolder(url: folder.appendingPathComponent(PercentCoding.encode(collection), isDirectory: true))
    }

    func collections(under document: StoragePath?) async throws -> [String]? {
        guard document == nil, FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap(PercentCoding.decode)
            .sorted()
    }

    func count(of collection: String) async throws -> Int { try lines(collection).count() }

    func ranges(of collection: String, into count: Int) async throws -> [DocumentRange] {
        let names = try lines(collection).names()
        let parts = max(1, min(count, names.count))
        let starts = (1..<max(parts, 1)).map { names[$0 * names.count / parts] as String? }
        return zip([nil] + starts, starts + [nil]).map { DocumentRange(collection: collection, start: $0, end: $1) }
    }

    func page(of range: DocumentRange, after place: String?, limit: Int) async throws -> DocumentPage {
        let (lines, place) = try lines(range.collection).lines(
            from: range.start, to: range.end, after: place, limit: limit)
        return DocumentPage(try lines.map { try $0.read(ArchivedDocument.document) }, place: place)
    }

    func documents(_ paths: [StoragePath]) async throws -> [DocumentSnapshot] {
        var found: [StoragePath: DocumentSnapshot] = [:]
        for (collection, paths) in Dictionary(grouping: paths, by: \.collection.id) {
            for line in try index(collection).lines(about: paths.map(\.rawValue)) {
                guard let document = try line?.read(ArchivedDocument.document) else { continue }
                found[document.path] = document
            }
        }
        return paths.map { found[$0] ?? .missing($0) }
    }

    func write(_ documents: [DocumentSnapshot], of collection: String, page: String) async throws -> [Rejection] {
        try lines(collection).write(try documents.map(ArchivedDocument.line), as: page)
        index(collection).forget()
        return []
    }
}

/// One line of an archive: a document with its path and the server's times.
struct ArchivedDocument: Codable {
    var path: StoragePath
    var created: Timestamp?
    var updated: Timestamp?
    var data: DocumentData

    static func line(_ document: DocumentSnapshot) throws -> [UInt8] {
        try JSONBytesEncoder().encode(
            ArchivedDocument(
                path: document.path, created: document.createTime, updated: document.updateTime,
                data: document.data ?? DocumentData()))
    }

    static func document(_ line: [UInt8]) throws -> DocumentSnapshot {
        let document: ArchivedDocument = try JSONBytesDecoder().decode(from: line)
        return .existing(document.path, document.data, createTime: document.created, updateTime: document.updated)
    }
}
