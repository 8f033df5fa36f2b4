extension FirebaseConfiguration {
    /// Addresses without a trailing slash; by default Google's.
    public struct Hosts: Sendable, Hashable, Codable {
        public var firestore = "https://firestore.googleapis.com"
        public var identityToolkit = "https://identitytoolkit.googleapis.com"
        public var secureToken = "https://securetoken.googleapis.com"
        public var storage = "https://firebasestorage.googleapis.com"
        public var installations = "https://firebaseinstallations.googleapis.com"
        public var registrations = "https://fcmregistrations.googleapis.com"
        public var messaging = "https://fcm.googleapis.com"

        public init() {}

        private enum CodingKeys: String, CodingKey {
            case firestore, identityToolkit, secureToken, storage, installations, registrations, messaging
        }

        /// All keys are optional.
        public init(from decoder: any Decoder) throws {
            self.init()
            let values = try decoder.container(keyedBy: CodingKeys.self)
            firestore = try values.decodeIfPresent(String.self, forKey: .firestore) ?? firestore
            identityToolkit = try values.decodeIfPresent(String.self, forKey: .identityToolkit) ?? identityToolkit
            secureToken = try values.decodeIfPresent(String.self, forKey: .secureToken) ?? secureToken
            storage = try values.decodeIfPresent(String.self, forKey: .storage) ?? storage
            installations = try values.decodeIfPresent(String.self, forKey: .installations) ?? installations
            registrations = try values.decodeIfPresent(String.self, forKey: .registrations) ?? registrations
            messaging = try values.decodeIfPresent(String.self, forKey: .messaging) ?? messaging
        }
    }

    /// Emulators as `host:port`, used over plain HTTP; `http://host:port` means the same.
    public struct Emulators: Sendable, Hashable, Codable {
        public var firestore: String?
        public var auth: String?
        public var storage: String?

        public init(firestore: String? = nil, auth: String? = nil, storage: String? = nil) {
            self.firestore = firestore
            self.auth = auth
            self.storage = storage
        }

        /// From the variables that Firebase's own tools set.
        public init(environment: [String: String]) {
            func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
            self.init(
                firestore: variable("FIRESTORE_EMULATOR_HOST"), auth: variable("FIREBASE_AUTH_EMULATOR_HOST"),
                storage: variable("FIREBASE_STORAGE_EMULATOR_HOST"))
        }
    }
}
