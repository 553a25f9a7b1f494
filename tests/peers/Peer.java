// The command line that the Java peers share; README.md beside this file describes it.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

abstract class Peer {
  static final int SESSION_TIMEOUT_MS = 10_000;
  private static final long SPIN_BELOW_NS = 1_000_000;

  /** What one contender acquires and releases, one thread at a time. */
  interface Lock {
    void acquire() throws Exception;

    void release() throws Exception;
  }

  /**
   * The own lock of the contender with that number, from 0; an IllegalArgumentException when the
   * library has no such kind.
   */
  abstract Lock lock(String path, String kind, int number) throws Exception;

  abstract void close() throws Exception;

  /** Runs what main() was called with, and what standard input says then; the exit status. */
  static int serve(String[] words, Callable<Peer> connect) {
    if (words.length < 5 || words.length > 7) {
      System.err.println("usage: PEER CONNECT PATH KIND ROUNDS HOLD_US [CONTENDERS [SESSIONS]]");
      return 1;
    }
    try {
      Peer peer = connect.call();
      try {
        peer.converse(List.of(words).subList(1, words.length));
      } finally {
        peer.close();
      }
      return 0;
    } catch (Exception error) {
      System.err.println(error);
      return 1;
    }
  }

  /** How many sessions main() was told to open. */
  static int sessions(String[] words) {
    return words.length > 6 ? Integer.parseInt(words[6]) : 1;
  }

  private void converse(List<String> what) throws Exception {
    System.out.println("ready");
    var input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      List<String> words = List.of(line.trim().split("\\s+"));
      if (words.size() > 1) {
        what = words.subList(1, words.size());
      }
      int contenders = what.size() > 4 ? Integer.parseInt(what.get(4)) : 1;
      System.out.print(run(what.get(0), what.get(1), Integer.parseInt(what.get(2)),
          TimeUnit.MICROSECONDS.toNanos(Long.parseLong(what.get(3))), contenders));
      System.out.println("done");
    }
  }

  private String run(String path, String kind, int rounds, long hold, int contenders)
      throws Exception {
    var start = new CountDownLatch(contenders);
    ExecutorService threads = Executors.newFixedThreadPool(contenders);
    try {
      List<Future<long[]>> all = new ArrayList<>();
      for (int i = 0; i < contenders; ++i) {
        Lock lock = lock(path, kind, i);
        all.add(threads.submit(() -> {
          start.countDown();
          start.await();
          return contend(lock, rounds, hold);
        }));
      }
      var report = new StringBuilder();
      for (Future<long[]> one : all) {
        append(report, one.get());
      }
      return report.toString();
    } finally {
      threads.shutdownNow();
    }
  }

  // nanoTime is CLOCK_MONOTONIC on Linux.
  private static long[] contend(Lock lock, int rounds, long hold) throws Exception {
    long[] times = new long[4 * rounds];
    for (int i = 0; i < times.length; i += 4) {
      times[i] = System.nanoTime();
      lock.acquire();
      times[i + 1] = System.nanoTime();
      pause(times[i + 1], hold);
      times[i + 2] = System.nanoTime();
      lock.release();
      times[i + 3] = System.nanoTime();
    }
    return times;
  }

  private static void pause(long since, long nanoseconds) throws InterruptedException {
    if (nanoseconds >= SPIN_BELOW_NS) {
      TimeUnit.NANOSECONDS.sleep(nanoseconds);
    }
    while (System.nanoTime() - since < nanoseconds) {
      Thread.onSpinWait();
    }
  }

  private static void append(StringBuilder report, long[] times) {
    for (int i = 0; i < times.length; ++i) {
      report.append(times[i]).append(i % 4 == 3 ? '\n' : ' ');
    }
  }
}
