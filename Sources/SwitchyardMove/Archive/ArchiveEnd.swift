public import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// A folder with documents, accounts and files, in the format that <doc:MovingToAnotherBackend> describes.
///
/// It holds every value exactly, and the times at which the server created and changed documents. Files with password hashes
/// can be read by their owner only.
public struct ArchiveEnd: MoveEnd {
    /// The version that this library writes; it reads all up to this one.
    public static let version = 1

    public let folder: URL
    public let name: String
    private let creates: Bool

    /// - Parameters:
    ///   - folder: The archive.
    ///   - creates: Whether it is created, by the first run of a move, if there is none.
    /// - Throws: `.localStore` if there is no archive, or one of a later version.
    public init(_ folder: URL, creates: Bool = false) throws(MoveError) {
        self.folder = folder
        name = "the archive “\(folder.lastPathComponent)”"
        self.creates = creates
        let file = folder.appendingPathComponent("archive.json")
        if FileManager.default.fileExists(atPath: file.path) {
            try Self.check(try LineFolder.contents(file), file)
        } else if !creates {
            throw .archive(folder.path, "it has no archive.json. Name the folder of an export.")
        }
    }

    public func prepare() async throws(MoveError) {
        guard creates, !FileManager.default.fileExists(atPath: folder.appendingPathComponent("archive.json").path)
        else {
            return
        }
        let header: JSON = ["format": "switchyard-archive", "version": .integer(Int64(Self.version))]
        try LineFolder.write(header.bytes() + [UInt8(ascii: "\n")], to: folder, "archive.json")
    }

    private static func check(_ bytes: Data, _ file: URL) throws(MoveError) {
        guard let json = try? JSON(parsing: bytes), json["format"]?.string == "switchyard-archive",
            let version = json["version"]?.int
        else { throw .archive(file.path, "it is not that of an archive.") }
        guard version <= Self.version else {
            throw .archive(
                file.path, "version \(version) is newer than this program, which reads up to \(Self.version).")
        }
    }

    public var documents: MoveService<any MoveDocuments> {
        part("documents", "documents") { ArchiveDocuments(folder: $0) }
    }
    public var accounts: MoveService<any MoveAccounts> {
        part("accounts", "accounts") { ArchiveAccounts(lines: LineFolder(url: $0)) }
    }
    public var files: MoveService<any MoveFiles> { part("files", "files") { ArchiveFiles(folder: $0) } }

    /// A part that is there, or can be created.
    private func part<Service>(_ name: String, _ what: String, _ make: (URL) -> Service) -> MoveService<Service> {
        let url = folder.appendingPathComponent(name, isDirectory: true)
        return creates || FileManager.default.fileExists(atPath: url.path)
            ? .present(make(url)) : .absent("The archive has no \(what).")
    }
}
