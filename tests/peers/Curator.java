// Apache Curator's recipes as a peer: InterProcessMutex, InterProcessReadWriteLock, InterProcessSemaphoreV2.
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

final class Curator extends Peer {
  private static final int CONNECTION_TIMEOUT_MS = 5_000;
  private final CuratorFramework client;

  private Curator(String connect) throws Exception {
    client = CuratorFrameworkFactory.newClient(connect, SESSION_TIMEOUT_MS, CONNECTION_TIMEOUT_MS,
        new ExponentialBackoffRetry(100, 3));
    client.start();
    if (!client.blockUntilConnected(CONNECTION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
      client.close();
      throw new Exception("no connection to " + connect);
    }
  }

  public static void main(String[] words) {
    System.exit(serve(words, () -> new Curator(words[0])));
  }

  @Override
  Lock lock(String path, String kind) {
    String prefix = "semaphore:";
    if (kind.startsWith(prefix)) {
      return new Semaphore(new InterProcessSemaphoreV2(
          client, path, Integer.parseInt(kind.substring(prefix.length()))));
    }
    switch (kind) {
      case "mutex":
        return new Mutex(new InterProcessMutex(client, path));
      case "write":
        return new Mutex(new InterProcessReadWriteLock(client, path).writeLock());
      case "read":
        return new Mutex(new InterProcessReadWriteLock(client, path).readLock());
      default:
        throw new IllegalArgumentException("Curator has no lock of kind " + kind);
    }
  }

  @Override
  void close() {
    client.close();
  }

  private static final class Mutex implements Lock {
    private final InterProcessLock lock;

    Mutex(InterProcessLock lock) {
      this.lock = lock;
    }

    @Override
    public void acquire() throws Exception {
      lock.acquire();
    }

    @Override
    public void release() throws Exception {
      lock.release();
    }
  }

  private static final class Semaphore implements Lock {
    private final InterProcessSemaphoreV2 semaphore;
    private Lease lease;

    Semaphore(InterProcessSemaphoreV2 semaphore) {
      this.semaphore = semaphore;
    }

    @Override
    public void acquire() throws Exception {
      lease = semaphore.acquire();
    }

    @Override
    public void release() {
      semaphore.returnLease(lease);
    }
  }
}
