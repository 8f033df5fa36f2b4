import Foundation
import Switchyard
import SwitchyardBytes

extension String {
    /// A file's path of an argument.
    fileprivate func filePath() throws(UsageError) -> FilePath {
        do throws(FileStorageError) { return try FilePath(validating: self) } catch { throw UsageError(error.message) }
    }
}

extension FileMetadata {
    fileprivate var json: JSON {
        var object: JSONObject = [
            "path": .string(path.rawValue), "size": .integer(size), "contentType": .string(contentType),
        ]
        if let updatedAt { object["updated"] = .string("\(updatedAt)") }
        if let md5 { object["md5"] = .string(md5) }
        if !custom.isEmpty {
            let members = custom.sorted { $0.key < $1.key }.map { (key: $0.key, value: JSON.string($0.value)) }
            object["custom"] = .object(JSONObject(members))
        }
        return .object(object)
    }
}

/// `switchyard ls`
struct ListCommand: BackendCommand {
    let name = "ls"
    let backend: BackendOptions
    var services: Set<InfrastructureService> { if case .files = listed { [.files] } else { [] } }
    private let listed: Listed
    private let isJSON: Bool

    private enum Listed {
        case files(FilePath?)
        case collections(StoragePath?)
    }

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("ls"))
        backend = BackendOptions(given)
        isJSON = given.has("--json")
        let folder = given.arguments.first
        if given.has("--collections") {
            listed = .collections(try folder.map { (path) throws(UsageError) in try path.documentPath() })
        } else {
            var path = folder?[...] ?? ""
            while path.last == "/" { path.removeLast() }
            listed = .files(path.isEmpty ? nil : try String(path).filePath())
        }
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        switch listed {
        case .collections(let document):
            for collection in try await backend.storage.collections(under: document) {
                let line =
                    isJSON ? JSON.object(["collection": .string(collection.rawValue)]).text() : collection.rawValue
                guard Terminal.print(line) else { break }
            }
        case .files(let folder):
            var page: String?
            repeat {
                let list = try await backend.files.list(folder, pageSize: 200, page: page)
                let folders = list.folders.map { folder in
                    isJSON ? JSON.object(["folder": .string(folder.rawValue)]).text() : folder.rawValue + "/"
                }
                let files = list.files.map { isJSON ? $0.json.text() : $0.path.rawValue }
                for line in folders + files where !Terminal.print(line) { return .success }
                page = list.nextPage
            } while page != nil
        }
        return .success
    }
}

/// Shows a transfer while it runs, and waits for its end.
private func finish<Output: Sendable>(_ transfer: FileTransfer<Output>) async throws(FileStorageError) -> Output {
    let bar = ProgressBar(.bytes)
    let watcher = Task {
        for await progress in transfer.progress {
            bar.show(progress.completedBytes, of: progress.totalBytes, trouble: progress.lastError?.message)
        }
    }
    defer {
        watcher.cancel()
        bar.clear()
    }
    let output = try await transfer.result()
    await watcher.value
    return output
}

/// `switchyard upload`
struct UploadCommand: BackendCommand {
    let name = "upload"
    let backend: BackendOptions
    var services: Set<InfrastructureService> { [.files] }
    private let file: String
    private let path: FilePath
    private let options: UploadOptions
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("upload"))
        backend = BackendOptions(given)
        file = given.arguments[0]
        let target = given.arguments[1]
        let isFolder = target.hasSuffix("/")
        path = try (isFolder ? target + URL(fileURLWithPath: file).lastPathComponent : target).filePath()
        options = UploadOptions(contentType: given["--type"], replacesExisting: !given.has("--new"))
        isJSON = given.has("--json")
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        let source: UploadSource = file == "-" ? .data(Data(Input.all())) : .file(URL(fileURLWithPath: file))
        let stored = try await finish(backend.files.upload(source, to: path, options: options))
        if isJSON { Terminal.print(stored.json.text()) }
        return .success
    }
}

/// `switchyard download`
struct DownloadCommand: BackendCommand {
    let name = "download"
    let backend: BackendOptions
    var services: Set<InfrastructureService> { [.files] }
    private let path: FilePath
    /// `nil` for the standard output.
    private let file: URL?
    private let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        let given = try Options(words, of: Commands.named("download"))
        backend = BackendOptions(given)
        path = try given.arguments[0].filePath()
        isJSON = given.has("--json")
        let place = given.arguments.count > 1 ? given.arguments[1] : path.name
        guard place != "-" else {
            guard !isJSON else { throw UsageError("“--json” would stand among the contents; download to a file") }
            file = nil
            return
        }
        let url = URL(fileURLWithPath: place)
        var info = stat()
        let isFolder = stat(place, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
        file = isFolder ? url.appendingPathComponent(path.name) : url
    }

    func run(on backend: OpenBackend) async throws -> ExitStatus {
        guard let file else {
            for try await chunk in backend.files.bytes(of: path, range: nil) {
                guard Terminal.write(Array(chunk)) else { return .success }
            }
            return .success
        }
        if let problem = ReportFile.problem(of: file.path) { throw CommandFailure(problem) }
        let stored: FileMetadata
        do throws(FileStorageError) {
            stored = try await finish(backend.files.download(path, to: file))
        } catch {
            guard error.code == .localFile else { throw error }
            throw CommandFailure("“\(file.path)” cannot be written: \(error.message)")
        }
        if isJSON { Terminal.print(stored.json.text()) }
        return .success
    }
}
