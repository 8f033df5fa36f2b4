import Foundation
import Switchyard
import SwitchyardEmulator

/// `switchyard emulator firebase`
struct EmulatorCommand {
    private let options: LocalFirebaseOptions

    init(_ words: [String]) throws(UsageError) {
        guard words.first == "firebase" else {
            throw UsageError(
                words.first.map { "there is no emulator “\($0)”" } ?? "which emulator? There is “firebase”")
        }
        let given = try Options(
            Array(words.dropFirst()), values: ["--port", "--folder", "--project"], switches: ["--open"])
        var options = LocalFirebaseOptions()
        if let text = given["--port"] {
            guard let port = UInt16(text) else { throw UsageError("“\(text)” is no port") }
            options.port = port
        }
        if let project = given["--project"] { options.project = project }
        options.folder = given["--folder"].map { URL(fileURLWithPath: $0, isDirectory: true) }
        options.allowsEverything = given.has("--open")
        self.options = options
    }

    /// Runs until the process is ended; what has been answered is in the folder by then.
    func run() async -> ExitStatus {
        do throws(LocalFirebaseError) {
            let firebase = try LocalFirebase(options)
            Terminal.print(firebase.summary)
            await untilCancelled()
            await firebase.stop()
            return .success
        } catch {
            Terminal.error("switchyard emulator: \(error.message)")
            return .failure
        }
    }
}
