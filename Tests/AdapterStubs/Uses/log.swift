// What an app or a server does with the printed file.
import Logging
import Switchyard

func options() -> InfrastructureOptions {
    InfrastructureOptions(observer: LogObserver(Logger(label: "backend")))
}
