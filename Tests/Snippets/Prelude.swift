// What the pages of the documentation take for granted. Only type-checked.
let backend: Infrastructure = { fatalError() }()
let factory: InfrastructureFactory = { fatalError() }()
let storage: any StorageClient = { fatalError() }()
let auth: any AuthClient = { fatalError() }()
let files: any FileStorageClient = { fatalError() }()
let messaging: any MessagingClient = { fatalError() }()
let user: AuthUser = { fatalError() }()
let userID = "alice"
let id = "1"
let email = "alice@example.com"
let password: Secret = "a long one"
let key: Secret = "key"
let url = URL(fileURLWithPath: "/tmp/configuration.json")
let folder = URL(fileURLWithPath: "/tmp/state")
let photo = URL(fileURLWithPath: "/tmp/photo.jpg")
let destination = URL(fileURLWithPath: "/tmp/copy")

func show(_ items: Any...) {}
func show(_ items: Any, isCached: Bool, isSaving: Bool) {}
func show(_ items: Any..., opened: Bool) {}
func log(_ items: Any...) {}
func consume(_ item: Any) {}

func showLaunchScreen() {}
func showHome(of user: AuthUser) {}
func showSignIn() {}
func askAgain(_ user: AuthUser) {}
func ask(for challenge: SecondFactorChallenge) {}
