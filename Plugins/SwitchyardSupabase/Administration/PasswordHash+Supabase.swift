import Foundation
import Switchyard
import SwitchyardBytes

extension PasswordHash {
    /// The hash as the service reads it. The service would store an unreadable hash, or report an internal error.
    ///
    /// - Throws: `.invalidArgument`; `.unsupported` for a kind that the service does not know.
    var supabase: Secret {
        get throws(AuthError) {
            switch self {
            case .bcrypt(let hash):
                guard Self.isBcrypt(hash.reveal()) else {
                    throw AuthError(
                        .invalidArgument,
                        "The password's hash is not one of bcrypt, which is $2b$10$… with 53 letters behind.")
                }
                return hash
            case .argon2(let hash):
                guard Self.isArgon2(hash.reveal()) else {
                    throw AuthError(
                        .invalidArgument,
                        "The password's hash is not one of Argon2i or Argon2id, as $argon2id$v=19$m=…,t=…,p=…$salt$hash."
                    )
                }
                return hash
            case .keyedScrypt(let hash, let salt, let settings): return try Self.keyedScrypt(hash, salt, settings)
            case .pbkdf2SHA256:
                throw AuthError.unsupported(
                    "hashes of passwords by PBKDF2", by: .supabase,
                    instead: "Import the account without one, and send a link for a new password.")
            }
        }
    }

    private static func keyedScrypt(
        _ hash: Secret, _ salt: Secret, _ settings: ScryptSettings
    ) throws(AuthError) -> Secret {
        let (hash, salt) = (hash.reveal(), salt.reveal())
        let (key, separator) = (settings.signerKey.reveal(), settings.saltSeparator.reveal())
        guard ![hash, salt, key].contains(""), [hash, salt, key, separator].allSatisfy({ Base64.decode($0) != nil }),
            (1...64).contains(settings.rounds), (1...20).contains(settings.memoryCost)
        else {
            throw AuthError(
                .invalidArgument,
                "A hash of scrypt, its salt, its signer key and its separator are Base64 texts, with 1 to 64 rounds and a memory "
                    + "cost of 1 to 20.")
        }
        let separation = separator.isEmpty ? "" : ",ss=\(separator)"
        return Secret(
            "$fbscrypt$v=1,n=\(settings.memoryCost),r=\(settings.rounds),p=1\(separation),sk=\(key)$\(salt)$\(hash)")
    }

    private static func isBcrypt(_ hash: String) -> Bool {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), parts[2].utf8.count == 2,
            let rounds = Int(parts[2]), (4...31).contains(rounds), parts[3].utf8.count == 53
        else { return false }
        return parts[3].utf8.allSatisfy {
            (46...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
        }
    }

    /// The service supports neither Argon2d nor any version but the latest.
    private static func isArgon2(_ hash: String) -> Bool {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].isEmpty, ["argon2i", "argon2id"].contains(parts[1]), parts[2] == "v=19",
            [parts[4], parts[5]].allSatisfy({ part in
                !part.isEmpty && Base64.decode(String(part), padding: .optional) != nil
            })
        else { return false }
        let numbers = parts[3].split(separator: ",", omittingEmptySubsequences: false)
        return numbers.count == 3
            && zip(numbers, ["m=", "t=", "p="]).allSatisfy { text, name in
                text.hasPrefix(name) && (UInt32(text.dropFirst(2)) ?? 0) > 0
            }
    }
}
