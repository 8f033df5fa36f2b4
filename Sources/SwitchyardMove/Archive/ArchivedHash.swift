public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// A password hash as it is written: `{"kind":"bcrypt","hash":"$2b$10$…"}`.
struct ArchivedHash: Codable {
    var kind: String
    var hash: String
    var salt: String?
    var rounds: Int?
    var signerKey: String?
    var saltSeparator: String?
    var memoryCost: Int?

    init(_ hash: PasswordHash) {
        kind = hash.kind.rawValue
        switch hash {
        case .bcrypt(let text), .argon2(let text): self.hash = text.reveal()
        case .pbkdf2SHA256(let text, let salt, let rounds):
            self.hash = text.reveal()
            self.salt = salt.reveal()
            self.rounds = rounds
        case .keyedScrypt(let text, let salt, let settings):
            self.hash = text.reveal()
            self.salt = salt.reveal()
            rounds = settings.rounds
            memoryCost = settings.memoryCost
            signerKey = settings.signerKey.reveal()
            saltSeparator = settings.saltSeparator.reveal()
        }
    }

    func passwordHash() throws(MoveError) -> PasswordHash {
        let secret = Secret(hash)
        switch PasswordHash.Kind(rawValue: kind) {
        case .bcrypt: return .bcrypt(secret)
        case .argon2: return .argon2(secret)
        case .pbkdf2SHA256:
            return .pbkdf2SHA256(
                hash: secret, salt: Secret(try needed(salt, "salt")), rounds: try needed(rounds, "rounds"))
        case .keyedScrypt:
            return .keyedScrypt(
                hash: secret, salt: Secret(try needed(salt, "salt")),
                .init(
                    signerKey: Secret(try needed(signerKey, "signerKey")),
                    saltSeparator: Secret(try needed(saltSeparator, "saltSeparator")), rounds: rounds ?? 8,
                    memoryCost: memoryCost ?? 14))
        case nil: throw MoveError(.invalidArgument, "“\(kind)” is no kind of password hash.")
        }
    }

    private func needed<Value>(_ value: Value?, _ name: String) throws(MoveError) -> Value {
        guard let value else { throw MoveError(.invalidArgument, "A hash of “\(kind)” needs “\(name)”.") }
        return value
    }
}

/// Password hashes from a vendor's download.
public enum PasswordHashes {
    /// Reads a file with one account per line, as in an archive:
    /// `{"id":"…","passwordHash":{"kind":"bcrypt","hash":"$2b$10$…"}}`.
    ///
    /// - Throws: `.localStore` with the line that cannot be read.
    public static func read(_ file: URL) throws(MoveError) -> [AuthUser.ID: PasswordHash] {
        let bytes = try LineFolder.contents(file)
        var hashes: [AuthUser.ID: PasswordHash] = [:]
        var offset = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let place = ArchiveLine(bytes: Array(line), file: file.lastPathComponent, offset: offset)
            offset += line.count + 1
            if line.isEmpty { continue }
            let entry = try place.read { try JSONBytesDecoder().decode(Entry.self, from: $0) }
            hashes[entry.id] = try entry.passwordHash?.passwordHash()
        }
        return hashes
    }

    private struct Entry: Decodable {
        var id: String
        var passwordHash: ArchivedHash?
    }
}
