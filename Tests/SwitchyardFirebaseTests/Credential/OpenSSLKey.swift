import Foundation
import SwitchyardTestSupport

/// A key made by openssl, which also says whether a signature is its own.
final class OpenSSLKey: Sendable {
    enum Kind { case rsa, curve }

    private let folder: URL
    /// The private half, as key files have it.
    let pem: String

    init(_ kind: Kind) throws {
        folder = ScratchSpace.url.appendingPathComponent("key-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let key = folder.appendingPathComponent("key.pem").path
        let options =
            switch kind {
            case .rsa: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
            case .curve: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            }
        guard try Self.run(["genpkey"] + options + ["-out", key]),
            try Self.run(["pkey", "-in", key, "-pubout", "-out", folder.appendingPathComponent("public.pem").path])
        else { throw Failed() }
        pem = try String(contentsOfFile: key, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// - Parameter signature: As openssl has it: of a curve in DER.
    func verifies(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
        let name = UUID().uuidString
        let (one, other) = (folder.appendingPathComponent(name), folder.appendingPathComponent("\(name).text"))
        try Data(signature).write(to: one)
        try Data(message).write(to: other)
        return try Self.run([
            "dgst", "-sha256", "-verify", folder.appendingPathComponent("public.pem").path, "-signature", one.path,
            other.path,
        ])
    }

    private struct Failed: Error {}

    private static func run(_ arguments: [String]) throws -> Bool {
        try TestProgram.run(["openssl"] + arguments).status == 0
    }
}
