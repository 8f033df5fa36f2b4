import Foundation
import Switchyard
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase

/// `switchyard emulator firebase` and `switchyard emulator supabase`
struct EmulatorCommand {
    private enum Server {
        case firebase(LocalFirebaseOptions)
        case supabase(LocalSupabaseOptions)
    }

    private let server: Server

    init(_ words: [String]) throws(UsageError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "firebase": server = .firebase(try EmulatorCommand.firebase(rest))
        case "supabase": server = .supabase(try EmulatorCommand.supabase(rest))
        case let name?:
            throw UsageError("there is no emulator “\(name)”; there are “firebase” and “supabase”")
        case nil: throw UsageError("which emulator? There are “firebase” and “supabase”")
        }
    }

    private static func firebase(_ words: [String]) throws(UsageError) -> LocalFirebaseOptions {
        let given = try Options(words, values: ["--port", "--folder", "--project"], switches: ["--open"])
        var options = LocalFirebaseOptions()
        options.port = try port(given) ?? options.port
        if let project = given["--project"] { options.project = project }
        options.folder = folder(given)
        options.allowsEverything = given.has("--open")
        return options
    }

    private static func supabase(_ words: [String]) throws(UsageError) -> LocalSupabaseOptions {
        let given = try Options(words, values: ["--port", "--folder", "--database"], switches: ["--confirm"])
        var options = LocalSupabaseOptions()
        options.port = try port(given) ?? options.port
        options.folder = folder(given)
        options.auth.confirmsEmails = !given.has("--confirm")
        if let text = given["--database"] {
            let address = try DatabaseAddress(text)
            options.database = .given(port: address.port, user: address.user, name: address.name)
        }
        return options
    }

    private static func port(_ given: Options) throws(UsageError) -> UInt16? {
        guard let text = given["--port"] else { return nil }
        guard let port = UInt16(text) else { throw UsageError("“\(text)” is no port") }
        return port
    }

    private static func folder(_ given: Options) -> URL? {
        given["--folder"].map { URL(fileURLWithPath: $0, isDirectory: true) }
    }

    /// Runs until the process is asked to end, and ends what it has started; what has been answered is in the folder by then.
    func run() async -> ExitStatus {
        switch server {
        case .firebase(let options):
            do throws(LocalFirebaseError) {
                let firebase = try LocalFirebase(options)
                let end = EndRequest()
                Terminal.print(firebase.summary)
                await end.wait()
                await firebase.stop()
                return .success
            } catch {
                return EmulatorCommand.failure(error.message)
            }
        case .supabase(let options):
            do throws(LocalSupabaseError) {
                let supabase = try await LocalSupabase(options)
                let end = EndRequest()
                Terminal.print(supabase.summary)
                await end.wait()
                await supabase.stop()
                return .success
            } catch {
                return EmulatorCommand.failure(error.message)
            }
        }
    }

    private static func failure(_ message: String) -> ExitStatus {
        Terminal.error("switchyard emulator: \(message)")
        return .failure
    }
}
