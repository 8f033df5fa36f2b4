import Foundation
import Switchyard
import SwitchyardMove

/// `switchyard move plan`, `run`, `verify`, `export` and `import`
struct MoveCommand: ToolCommand {
    enum Work: String, CaseIterable { case plan, run, verify, export, `import` }

    let work: Work
    let from: MovePlace
    let to: MovePlace
    let journal: URL?
    let options: MoveOptions
    let hashes: URL?
    /// A plan to follow, instead of a new one.
    let plan: URL?
    let throttle: Int?
    let rampFrom: Int?
    let repairs: Bool
    let isJSON: Bool

    init(_ words: [String]) throws(UsageError) {
        guard let work = words.first.flatMap(Work.init) else { throw UsageError("missing subcommand of “move”") }
        self.work = work
        let given = try Options(Array(words.dropFirst()), of: Commands.named("move \(work.rawValue)"))
        let place = { (name: String) throws(UsageError) -> MovePlace in
            guard let path = given[name] else { throw UsageError("“move \(work.rawValue)” needs “\(name)”") }
            return try MovePlace(path, of: name)
        }
        from = try place("--from")
        to = try place("--to")
        try work.check(from, to)
        journal = given["--journal"].map { URL(fileURLWithPath: $0, isDirectory: true) } ?? work.journal(from, to)
        guard work != .run || journal != nil else {
            throw UsageError("“move run” needs “--journal FOLDER”, from which a later run continues")
        }
        options = try Self.options(given)
        hashes = given["--hashes"].map { URL(fileURLWithPath: $0) }
        plan = given["--plan"].map { URL(fileURLWithPath: $0) }
        throttle = try Self.number(given, "--throttle")
        rampFrom = try Self.number(given, "--ramp-from")
        repairs = given.has("--repair")
        isJSON = given.has("--json")
    }

    static func options(_ given: Options) throws(UsageError) -> MoveOptions {
        var options = MoveOptions()
        options.collections = given["--collections"]?.split(separator: ",").map(String.init) ?? []
        if given.has("--thorough") { options.sample = nil }
        for name in given["--owner-fields"]?.split(separator: ",") ?? [] {
            guard let field = try? FieldPath(validating: String(name)) else {
                throw UsageError("“\(name)” is not the name of a field")
            }
            options.ownerFields.append(field)
        }
        return options
    }

    private static func number(_ given: Options, _ name: String) throws(UsageError) -> Int? {
        guard let text = given[name] else { return nil }
        guard let number = Int(text), number > 0 else {
            throw UsageError("“\(text)” is not a number of documents per second for “\(name)”")
        }
        return number
    }

    func run() async -> ExitStatus {
        do throws(MoveError) {
            return try await MoveSession(self).run()
        } catch {
            Terminal.error("switchyard move \(work.rawValue): \(error.message)")
            if error.isRetryable, work.copies {
                Terminal.error("Everything up to here is recorded. The same command continues.")
            }
            return .failure
        }
    }
}

extension MoveCommand.Work {
    var copies: Bool { self == .run || self == .export || self == .import }

    fileprivate func check(_ from: MovePlace, _ to: MovePlace) throws(UsageError) {
        switch (self, from, to) {
        case (.export, .archive, _): throw UsageError("“move export” reads a backend: “--from” takes a configuration")
        case (.export, _, .backend): throw UsageError("“move export” writes an archive: “--to” takes a folder")
        case (.import, .backend, _): throw UsageError("“move import” reads an archive: “--from” takes a folder")
        case (.import, _, .archive): throw UsageError("“move import” writes to a backend: “--to” takes a configuration")
        default: break
        }
    }

    /// The journal if none is named: an archive has room for it.
    fileprivate func journal(_ from: MovePlace, _ to: MovePlace) -> URL? {
        switch (self, from, to) {
        case (.export, _, .archive(let folder)): folder.appendingPathComponent("export-journal", isDirectory: true)
        case (.import, .archive(let folder), _): folder.appendingPathComponent("import-journal", isDirectory: true)
        default: nil
        }
    }
}

/// What `--from` and `--to` name.
enum MovePlace {
    /// A configuration in JSON.
    case backend(URL)
    case archive(URL)

    init(_ path: String, of option: String) throws(UsageError) {
        let url = URL(fileURLWithPath: path)
        var info = stat()
        let exists = stat(path, &info) == 0
        switch (exists, exists && info.st_mode & S_IFMT == S_IFDIR) {
        case (true, false): self = .backend(url)
        case (true, true): self = .archive(url)
        case (false, _) where option == "--to" && !path.hasSuffix(".json"): self = .archive(url)
        default:
            throw UsageError(
                "“\(path)” does not exist; “\(option)” takes a configuration in JSON, or the folder of an archive")
        }
    }

    /// The configuration that an option names, where an archive makes no sense.
    static func configuration(_ given: Options, _ option: String, for work: String) throws(UsageError) -> URL {
        guard let path = given[option] else { throw UsageError("“move \(work)” needs “\(option)”") }
        guard case .backend(let url) = try MovePlace(path, of: option) else {
            throw UsageError("“\(path)” is no configuration; “move \(work)” is for a move between two backends")
        }
        return url
    }
}
