import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// Builds pages of files from the server's lists, which contain only names.
struct FirebaseFileLister: Sendable {
    /// How many files are looked up at the same time.
    private static let breadth = 8

    let service: FirebaseFileService
    let folder: FilePath?
    let pageSize: Int

    /// The position after which a page begins: the server's page token, and the last entry returned, since some servers repeat
    /// every folder on every page.
    private struct Mark {
        let token: String
        let last: String

        init(token: String, last: String) {
            self.token = token
            self.last = last
        }

        init(_ text: String) throws(FileStorageError) {
            guard let bytes = Base64.decode(text, alphabet: .url), let json = try? JSON(parsing: bytes),
                let token = json[0]?.string, let last = json[1]?.string
            else {
                throw FileStorageError(.invalidArgument, "There is no such page. Pass the nextPage of an earlier list.")
            }
            self.init(token: token, last: last)
        }

        var text: String { Base64.encode(JSON.array([.string(token), .string(last)]).bytes(), alphabet: .url) }
    }

    private struct Names {
        var files: [String] = []
        var folders: [String] = []
        var next: String?
    }

    /// - Parameter page: The token from an earlier list; `nil` for the first page.
    func page(_ page: String?) async throws(FileStorageError) -> FileList {
        var mark = try page.map { text throws(FileStorageError) in try Mark(text) }
        var asked: Set<String> = []
        while true {
            if let mark { asked.insert(mark.token) }
            let names = try await names(behind: mark?.token)
            if let next = names.next, asked.contains(next) {
                throw FileStorageError(
                    .unavailable, "The server returned the same page of the list again.", isRetryable: false)
            }
            let last = mark?.last ?? ""
            let folders = names.folders.filter { last.utf8Ordering(to: $0) == .before }
            let newest = (names.files + folders + [last]).max { $0.utf8Ordering(to: $1) == .before } ?? last
            mark = names.next.map { Mark(token: $0, last: newest) }
            // A page may be empty although more follow, since the server leaves out some names.
            if names.files.isEmpty, folders.isEmpty, mark != nil { continue }
            let files = try await describe(names.files.compactMap { try? FilePath(validating: $0) })
            return FileList(
                files: files.sorted { $0.path < $1.path },
                folders: folders.compactMap { try? FilePath(validating: String($0.dropLast())) }.sorted(),
                nextPage: mark?.text)
        }
    }

    private func names(behind token: String?) async throws(FileStorageError) -> Names {
        let prefix = folder.map { $0.rawValue + "/" } ?? ""
        let address =
            token.map {
                service.address(["prefix": prefix, "delimiter": "/", "maxResults": "\(pageSize)", "pageToken": $0])
            } ?? service.address(["prefix": prefix, "delimiter": "/", "maxResults": "\(pageSize)"])
        return try await service.persistently("list") { () throws(FileStorageError) in
            let body = try await service.call(HTTPRequest(.get, address), about: .bucket).body
            guard let json = try? JSON(parsing: body), let object = json.object else { throw .unreadableAnswer }
            var names = Names()
            names.files = object["items"]?.array?.compactMap { $0["name"]?.string } ?? []
            names.folders = object["prefixes"]?.array?.compactMap(\.string).filter { $0.hasSuffix("/") } ?? []
            names.next = object["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
            return names
        }
    }

    private func describe(_ paths: [FilePath]) async throws(FileStorageError) -> [FileMetadata] {
        let service = service
        let results = await withTaskGroup(of: Result<FileMetadata?, FileStorageError>.self) { group in
            var waiting = paths[...]
            func ask() {
                guard let path = waiting.popFirst() else { return }
                group.addTask {
                    do throws(FileStorageError) {
                        return .success(try await service.object(path).stored.metadata)
                    } catch {
                        // Deleted since it was listed.
                        return error.code == .notFound ? .success(nil) : .failure(error)
                    }
                }
            }
            for _ in 0..<Self.breadth { ask() }
            var results: [Result<FileMetadata?, FileStorageError>] = []
            while let result = await group.next() {
                results.append(result)
                if case .failure = result { group.cancelAll() } else { ask() }
            }
            return results
        }
        var files: [FileMetadata] = []
        for result in results { if let file = try result.get() { files.append(file) } }
        return files
    }
}
